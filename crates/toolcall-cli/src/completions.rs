//! Prints a completion script.
//! A reader that stops early is no error.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Arguments;

/// Prints the script for this shell.
pub(crate) fn print(shell: Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "toolcall", &mut script);
    match std::io::stdout().write_all(&script) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("the script could not be written; redirect it to another place")
        }
        Ok(()) | Err(_) => Ok(ExitCode::SUCCESS),
    }
}
