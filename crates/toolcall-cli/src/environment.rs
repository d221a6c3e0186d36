//! The user's directories, as environment variables name them.
//! It creates nothing.

use std::path::PathBuf;

use anyhow::bail;
use toolcall_policy::UserDirs;
use toolcall_tools::command::is_inside_tool_call;

/// The user's directories.
#[derive(Clone, Debug)]
pub(crate) struct UserEnvironment {
    pub(crate) dirs: UserDirs,
    /// The directory that `~` stands for.
    pub(crate) home: Option<PathBuf>,
}

impl UserEnvironment {
    /// Reads the environment.
    pub(crate) fn from_env() -> anyhow::Result<Self> {
        let home = directory("HOME");
        let base = |name: &str, default: &str| {
            directory(name).or_else(|| Some(home.as_ref()?.join(default)))
        };
        let config = base("XDG_CONFIG_HOME", ".config");
        let state = base("XDG_STATE_HOME", ".local/state");
        match (config, state) {
            (Some(config), Some(state)) => Ok(Self {
                dirs: UserDirs {
                    config: config.join("toolcall"),
                    state: state.join("toolcall"),
                },
                home,
            }),
            (Some(_), None) | (None, _) => bail!(
                "the directories for settings and history are unknown; set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME"
            ),
        }
    }
}

/// Returns the path of the user's history.
pub(crate) fn history_file(dirs: &UserDirs) -> PathBuf {
    dirs.state.join("history.db")
}

/// Fails if a tool call started this program: only the user may run such a command.
pub(crate) fn refuse_inside_tool_call(task: &str) -> anyhow::Result<()> {
    if is_inside_tool_call() {
        bail!("a tool call may not run `toolcall {task}`; run it yourself in a terminal");
    }
    Ok(())
}

/// Returns the directory that a variable names. Ignores relative paths: they would depend on the
/// current directory.
fn directory(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name)?);
    path.is_absolute().then_some(path)
}
