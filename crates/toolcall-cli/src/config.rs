//! `toolcall config`: the person's settings, written down, shown and found.
//! It only chooses; what a key means is in the table of keys, and nowhere else.

mod error;
mod file;
mod given;
mod keys;
mod settings;
mod shown;
mod written;

use std::process::ExitCode;

use crate::args::ConfigTask;
use crate::places::Person;
use crate::screen;

pub(crate) use settings::{Config, ModelChoice};

/// Does what was asked about settings.
pub(crate) fn run(task: &ConfigTask) -> anyhow::Result<ExitCode> {
    let person = Person::here()?;
    match task {
        ConfigTask::Init => written::init(&person)?,
        ConfigTask::Show(showing) => shown::show(&person, showing)?,
        ConfigTask::Path => screen::print(&[file::path(&person).display().to_string()])?,
    }
    Ok(ExitCode::SUCCESS)
}
