//! The paths of policy files, trust records and remembered rules, and the format of names and times in them.
//! It only builds paths and opens nothing.

use std::path::{Path, PathBuf};

use toolcall::{Digest, Timestamp};

/// The two directories of the user's own, outside every workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDirs {
    /// Configuration, which the user writes: `$XDG_CONFIG_HOME/toolcall`.
    pub config: PathBuf,
    /// State, which this program writes: `$XDG_STATE_HOME/toolcall`.
    pub state: PathBuf,
}

impl UserDirs {
    /// Returns the path of the user's own policy file.
    pub fn policy(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// Returns the path of a project's policy file.
    pub fn project_policy(project: &Path) -> PathBuf {
        project.join(super::trust::POLICY)
    }

    pub(super) fn remembered(&self) -> PathBuf {
        self.state.join("kept")
    }

    pub(super) fn trusted(&self) -> PathBuf {
        self.state.join("trusted")
    }
}

/// Returns a file name for a directory: its own name, for users, and a digest of its path.
pub(super) fn file_name(directory: &Path, extension: &str) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
    let name: String = name.chars().filter(is_plain).take(32).collect();
    let digest = digest(directory.as_os_str().as_encoded_bytes());
    format!("{name}-{}.{extension}", &digest[..32])
}

/// Returns the SHA-256 digest in hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}

/// Returns a timestamp as files write it, to the second.
pub(super) fn format_timestamp(when: Timestamp) -> String {
    format!("{when:.0}")
}
