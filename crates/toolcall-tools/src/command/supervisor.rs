//! The program that supervises commands: this one, started again, or another one.
//! It starts nothing itself, and never uses a program as supervisor that does not declare itself one.

use std::io;
use std::path::{Path, PathBuf};

use super::{executor, supervise};

/// The only argument of a process that is to supervise a command.
pub(super) const SUPERVISE: &str = "__toolcall-supervise";
/// The only argument of a process that is to execute a command for its supervisor.
pub(super) const EXECUTE: &str = "__toolcall-execute";

/// A program that supervises commands. A value of this type shows that the program calls
/// [`Supervisor::enter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervisor {
    program: PathBuf,
}

impl Supervisor {
    /// Makes this program the supervisor of its own commands. Call it first in `main`, before
    /// threads and a runtime are started: in a process that was started to supervise a command, it
    /// does so and never returns.
    pub fn enter() -> io::Result<Self> {
        let mut arguments = std::env::args_os().skip(1);
        match (arguments.next(), arguments.next()) {
            (Some(word), None) if word == SUPERVISE => supervise::supervise(),
            (Some(word), None) if word == EXECUTE => executor::execute(),
            (_, _) => Ok(Self::at(own_program()?)),
        }
    }

    /// Uses another program that calls [`Supervisor::enter`] first, such as `toolcall-supervisor`.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self { program }
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }
}

/// Returns the program of this process, even if its file has been replaced or removed.
#[cfg(target_os = "linux")]
pub(super) fn own_program() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}
