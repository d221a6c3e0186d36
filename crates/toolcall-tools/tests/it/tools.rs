//! The built-in tools through a real engine, on real files in temporary folders.
//! Nothing here looks inside a tool; what counts is what a model gets.

#![cfg(unix)]

mod find_path;
mod hostile_trees;
mod list_directory;
mod project;
mod same_as_ripgrep;
mod search_files;
