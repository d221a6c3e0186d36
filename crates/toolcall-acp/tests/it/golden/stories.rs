//! The stories, by what they are about.
//! Each plays once and is checked whole.

mod cancelling;
mod commands;
mod content;
mod endings;
mod files;
mod forms;
mod permission;
