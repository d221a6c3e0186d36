//! Where this person's files are, by the environment.
//! It names places; it makes nothing.

use std::path::PathBuf;

use anyhow::bail;
use toolcall_policy::UserDirs;
use toolcall_tools::command::is_inside_a_command;

/// The folders of this person.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) places: UserDirs,
    /// What `~` stands for, if anything.
    pub(crate) home: Option<PathBuf>,
}

impl Person {
    /// As the environment says.
    pub(crate) fn here() -> anyhow::Result<Self> {
        let home = folder("HOME");
        let base =
            |name: &str, beneath: &str| folder(name).or_else(|| Some(home.as_ref()?.join(beneath)));
        let config = base("XDG_CONFIG_HOME", ".config");
        let state = base("XDG_STATE_HOME", ".local/state");
        match (config, state) {
            (Some(config), Some(state)) => Ok(Self {
                places: UserDirs {
                    config: config.join("toolcall"),
                    state: state.join("toolcall"),
                },
                home,
            }),
            (Some(_), None) | (None, _) => bail!(
                "there is no place for settings and output; set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME"
            ),
        }
    }
}

/// Where this person's history is.
pub(crate) fn history_file(places: &UserDirs) -> PathBuf {
    places.state.join("history.db")
}

/// Fails if a tool call started this program: what it wants is no tool's to do.
pub(crate) fn by_a_person(task: &str) -> anyhow::Result<()> {
    match is_inside_a_command() {
        true => {
            bail!("`toolcall {task}` is for people: a tool call started it, so nothing is done")
        }
        false => Ok(()),
    }
}

/// Relative ones mean nothing: they would change with the folder one is in.
fn folder(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name)?);
    path.is_absolute().then_some(path)
}
