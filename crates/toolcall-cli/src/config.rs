//! `toolcall config`: writes, shows and locates the user's settings file.
//! It only dispatches; what a key means is defined in `keys.rs` and nowhere else.

mod error;
mod file;
mod init;
mod keys;
mod settings;
mod show;
mod value;

use std::process::ExitCode;

use crate::args::ConfigCommand;
use crate::environment::UserEnvironment;
use crate::screen;

pub(crate) use settings::{Config, ModelChoice};

/// Runs a `toolcall config` command.
pub(crate) fn run(command: &ConfigCommand) -> anyhow::Result<ExitCode> {
    let user = UserEnvironment::from_env()?;
    match command {
        ConfigCommand::Init => init::run(&user)?,
        ConfigCommand::Show(args) => show::run(&user, args)?,
        ConfigCommand::Path => screen::print(&[file::path(&user).display().to_string()])?,
    }
    Ok(ExitCode::SUCCESS)
}
