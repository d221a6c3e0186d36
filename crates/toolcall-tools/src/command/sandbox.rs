//! The settings of a sandbox: what a command may write, and whether it may use the network.
//! It confines nothing itself: the process that executes the command enters the sandbox.

#[cfg(all(target_os = "linux", feature = "sandbox"))]
mod enforce;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[cfg(all(target_os = "linux", feature = "sandbox"))]
pub(super) use enforce::enforce;

/// Confines a command and every process it starts, enforced by the kernel (Landlock and seccomp).
///
/// The command may write to the roots of the session, to a private `TMPDIR` that is removed with the
/// command, to `/dev/null`, and to the paths listed here. It may read everything. It gains no
/// privileges: a setuid program runs as the user who starts it. If any part of the sandbox cannot be
/// built, the command does not run.
///
/// ```
/// use toolcall_tools::command::{Network, Sandbox};
///
/// let sandbox = Sandbox::new(Network::Refused).with_writable("/home/me/.cache/cargo");
/// assert_eq!(sandbox.writable.len(), 1);
/// ```
///
/// What it does not do:
/// - A root is writable as a whole. Landlock cannot exempt `.git` or another directory in it, so
///   only the question whether the command may run at all protects those.
/// - Landlock protects the content and the names of files. The permissions, owners, times and
///   extended attributes of the user's files can still be changed.
/// - Unix sockets stay reachable: a service that listens on one (a container engine, a key agent,
///   the desktop) does for the command what it does for the user.
/// - Signals to processes outside are refused from Linux 6.12 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Additional files and directories that may be written; each must exist.
    pub writable: Vec<PathBuf>,
    /// Whether the command may use the network.
    pub network: Network,
}

/// Whether a command may use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// Only Unix sockets can be created.
    Refused,
    /// The network is not restricted.
    Allowed,
}

impl Sandbox {
    /// A sandbox without additional writable paths.
    pub fn new(network: Network) -> Self {
        Self {
            writable: Vec::new(),
            network,
        }
    }

    /// Makes an existing file or directory writable.
    pub fn with_writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }
}

/// Always fails: this system or this build has no sandbox.
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
