//! The golden tests, by subject.
//! Each runs once, and all of its lines are checked.

mod cancelling;
mod commands;
mod content;
mod endings;
mod files;
mod forms;
mod permission;
