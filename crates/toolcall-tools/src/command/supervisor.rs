//! Which program supervises commands: this one, started again, or one that is named.
//! It starts nothing itself, and never takes a program for a supervisor that did not say so.

use std::io;
use std::path::{Path, PathBuf};

use super::{executor, supervise};

/// The one argument of a process that is to supervise a command.
pub(super) const SUPERVISE: &str = "__toolcall-supervise";
/// The one argument of a process that is to execute a command for its supervisor.
pub(super) const EXECUTE: &str = "__toolcall-execute";

/// A program that supervises commands. That somebody has one says that it is fit for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervisor {
    program: PathBuf,
}

impl Supervisor {
    /// Makes this very program fit to supervise its commands. Call it first in `main`, before
    /// threads and a runtime are there: a process that was started to supervise does that job
    /// here, and does not return.
    pub fn enter() -> io::Result<Self> {
        let mut arguments = std::env::args_os().skip(1);
        match (arguments.next(), arguments.next()) {
            (Some(word), None) if word == SUPERVISE => supervise::supervise(),
            (Some(word), None) if word == EXECUTE => executor::execute(),
            (_, _) => Ok(Self::at(own_program()?)),
        }
    }

    /// A program that calls [`Supervisor::enter`] first, such as `toolcall-supervisor`.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self { program }
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }
}

/// The program of this process, also if its file was replaced or removed meanwhile.
#[cfg(target_os = "linux")]
pub(super) fn own_program() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}
