//! `toolcall completions`: prints a completion script.
//! A reader that closes the pipe early is not an error.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::CliArgs;

/// Prints the script for this shell.
pub(crate) fn print(shell: Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CliArgs::command(), "toolcall", &mut script);
    match std::io::stdout().write_all(&script) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("the script could not be written; redirect it to a file")
        }
        Ok(()) | Err(_) => Ok(ExitCode::SUCCESS),
    }
}
