//! Where the files of policy, trust and kept answers are, and how names and times stand in them.
//! It names places; it opens nothing.

use std::path::{Path, PathBuf};

use toolcall::{Digest, Timestamp};

/// The two folders that are the person's own, outside of every workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDirs {
    /// What people write: `$XDG_CONFIG_HOME/toolcall`.
    pub config: PathBuf,
    /// What is kept for them: `$XDG_STATE_HOME/toolcall`.
    pub state: PathBuf,
}

impl UserDirs {
    /// The person's own policy.
    pub fn policy(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// The policy of a project.
    pub fn project_policy(project: &Path) -> PathBuf {
        project.join(super::trust::POLICY)
    }

    pub(super) fn kept(&self) -> PathBuf {
        self.state.join("kept")
    }

    pub(super) fn trusted(&self) -> PathBuf {
        self.state.join("trusted")
    }
}

/// A file name for a folder: its own name, for people, and a digest of the whole path.
pub(super) fn file_name(folder: &Path, ending: &str) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
    let name: String = name.chars().filter(is_plain).take(32).collect();
    let digest = digest(folder.as_os_str().as_encoded_bytes());
    format!("{name}-{}.{ending}", &digest[..32])
}

/// SHA-256, as people write it.
pub(super) fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}

/// A moment as files tell it, to the second.
pub(super) fn written(when: Timestamp) -> String {
    format!("{when:.0}")
}
