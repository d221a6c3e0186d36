//! The built-in tools on this machine, put together for one folder.
//! Assembly only: what may be done is the policy's to say.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use toolcall::{AskDangerous, Counted, Engine, EngineBuilder, Registry};
use toolcall_tools::command::{Network, Sandbox, Supervisor};
use toolcall_tools::{Kit, KitSettings};

/// Tools for one folder.
pub(crate) struct Workshop {
    cwd: PathBuf,
    kit: Kit,
}

/// What is around commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walls {
    None,
    /// They write to the folder only, and reach no network.
    Sandbox,
}

impl Workshop {
    /// Opens the tools for a folder; the current one if none is given.
    pub(crate) fn open(
        folder: Option<&Path>,
        supervisor: Supervisor,
        walls: Walls,
    ) -> anyhow::Result<Self> {
        Self::with_state(folder, state_folder()?, supervisor, walls)
    }

    /// Opens the tools for a folder, and keeps things in another.
    pub(crate) fn with_state(
        folder: Option<&Path>,
        state: PathBuf,
        supervisor: Supervisor,
        walls: Walls,
    ) -> anyhow::Result<Self> {
        let cwd = match folder {
            Some(folder) => folder
                .canonicalize()
                .with_context(|| format!("`{}` is no folder to work in", folder.display()))?,
            None => std::env::current_dir().context("there is no current folder to work in")?,
        };
        let mut settings = KitSettings::new(vec![cwd.clone()], state);
        settings.supervisor = Some(supervisor);
        settings.sandbox = match walls {
            Walls::None => None,
            Walls::Sandbox => Some(Sandbox::new(Network::Refused)),
        };
        let kit = Kit::open(settings)?;
        Ok(Self { cwd, kit })
    }

    /// Where it works.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Every tool.
    pub(crate) fn registry(&self) -> anyhow::Result<Registry> {
        let mut tools = Registry::new();
        self.kit.add_to(&mut tools)?;
        Ok(tools)
    }

    /// An engine with these tools, which asks about everything that could do harm.
    pub(crate) fn engine(&self) -> anyhow::Result<EngineBuilder> {
        Ok(self.engine_with(self.registry()?).policy(AskDangerous))
    }

    /// An engine on this machine with other tools.
    pub(crate) fn engine_with(&self, tools: Registry) -> EngineBuilder {
        Engine::builder(tools)
            .cwd(&self.cwd)
            .host(self.kit.host())
            .ids(Counted::new("call"))
    }

    /// Ends what still runs in the background.
    pub(crate) async fn close(&self) {
        self.kit.close().await;
    }
}

/// Where long output and deleted things are kept.
fn state_folder() -> anyhow::Result<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    match base {
        Some(base) => Ok(base.join("toolcall")),
        None => bail!("there is no place to keep output; set HOME or XDG_STATE_HOME"),
    }
}
