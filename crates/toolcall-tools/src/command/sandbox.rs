//! The sandbox of a command as a value: what it may write, and whether it may use the network.
//! Building it is the business of the process that is to be shut in.

#[cfg(all(target_os = "linux", feature = "sandbox"))]
mod enforce;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[cfg(all(target_os = "linux", feature = "sandbox"))]
pub(super) use enforce::enforce;

/// Isolation around a command and all that it starts, built by the kernel (Landlock and seccomp).
///
/// Writable are the roots of the session, a private `TMPDIR` that goes with the command,
/// `/dev/null`, and what is listed here. Reading is free. There are no new privileges: a program
/// with setuid runs as whoever starts it. If anything of that cannot be built, the command does
/// not run.
///
/// What it does not do:
/// - A root is writable as a whole. Landlock cannot except `.git` or another folder in it, so what
///   protects those is the question whether the command may run at all.
/// - Landlock guards the content and the names of files. Rights, owners, times and extended
///   attributes of files that belong to the user can still be changed.
/// - Sockets in the file system stay within reach: a service that listens on one (of containers,
///   of keys, of the desktop) does for the command what it does for the user.
/// - Signals to processes outside are refused from Linux 6.12 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Files and folders that may be written besides; each must be there.
    pub writable: Vec<PathBuf>,
    /// Whether there is a network.
    pub network: Network,
}

/// Whether a command may use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// No socket can be made but for processes of this machine.
    Refused,
    /// Like anybody else.
    Allowed,
}

impl Sandbox {
    /// A sandbox in which nothing is writable besides what always is.
    pub fn new(network: Network) -> Self {
        Self {
            writable: Vec::new(),
            network,
        }
    }

    /// Makes a file or a folder writable that is there.
    pub fn with_writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }
}

/// Refuses: no sandbox can be built on this system, or by this build.
#[cfg(not(all(target_os = "linux", feature = "sandbox")))]
pub(super) fn enforce(
    _isolation: &super::protocol::Isolation,
    _files: &crate::local::Files,
) -> Result<(), String> {
    let why = if cfg!(target_os = "linux") {
        "this program was built without the feature `sandbox`"
    } else {
        "this system has none that we know"
    };
    Err(format!("the sandbox cannot be built: {why}"))
}
