//! The integration tests of `toolcall-tools`, one module for each subject, in one binary.

mod command;
mod files;
mod full_disk;
mod ground;
mod hostile;
mod tools;
mod web;
