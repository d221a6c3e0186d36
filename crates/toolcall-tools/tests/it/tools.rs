//! The tools that walk directory trees, through a real engine, on real files in temporary directories.
//! The tests look only at what a model gets.

#![cfg(unix)]

mod find_path;
mod hostile_trees;
mod list_directory;
mod project;
mod same_as_ripgrep;
mod search_files;
