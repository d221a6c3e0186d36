//! Everything that the tools of one session use, put together: files, spills, commands, the web.
//! It opens what it is told to and decides nothing about permission.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use thiserror::Error;
#[cfg(feature = "mcp")]
use toolcall::SharedRegistry;
use toolcall::{Host, Registry, RegistryError};

use crate::command::{Commands, Jobs, Sandbox, Supervisor};
use crate::host::LocalHost;
use crate::local::{Files, Spills, Trash};
#[cfg(feature = "mcp")]
use crate::mcp::{ServerSettings, Servers, ServersError, Surroundings};
use crate::tools::{
    CommandOutput, DeleteFile, EditFile, FindPath, ListDirectory, MoveFile, ReadFile, RunCommand,
    SearchFiles, StopCommand, Thinking, TodoWrite, WriteFile,
};
#[cfg(feature = "web")]
use crate::tools::{Fetch, WebSearch};
#[cfg(feature = "web")]
use crate::web::{FetchSettings, SearchSettings, WebError};

/// How long spills and deleted things are kept.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What a session's tools are made from.
#[derive(Clone, Debug)]
pub struct ToolsetConfig {
    /// The folders that the session works in, absolute; the first is its own.
    pub roots: Vec<PathBuf>,
    /// A folder of the user's for long output and deleted things, outside of the roots.
    pub state: PathBuf,
    /// What supervises commands. Without it they are ended less surely.
    pub supervisor: Option<Supervisor>,
    /// The sandbox that commands run in, if they run in one.
    pub sandbox: Option<Sandbox>,
    /// How pages are fetched.
    #[cfg(feature = "web")]
    pub fetch: FetchSettings,
    /// Where the web is searched. Without it there is no tool for that.
    #[cfg(feature = "web")]
    pub search: Option<SearchSettings>,
    /// Servers whose tools the session has, too: only those that somebody trusts.
    #[cfg(feature = "mcp")]
    pub servers: Vec<ServerSettings>,
}

impl ToolsetConfig {
    /// These roots, this folder for what is kept, and nothing special.
    pub fn new(roots: Vec<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self {
            roots,
            state: state.into(),
            supervisor: None,
            sandbox: None,
            #[cfg(feature = "web")]
            fetch: FetchSettings::default(),
            #[cfg(feature = "web")]
            search: None,
            #[cfg(feature = "mcp")]
            servers: Vec::new(),
        }
    }
}

/// Why the tools of a session cannot be put together.
#[derive(Debug, Error)]
pub enum ToolsetError {
    /// A root cannot be opened.
    #[error("the folders of the session cannot be opened")]
    Roots(#[source] io::Error),
    /// The state folder cannot be used.
    #[error("`{}` cannot be used to keep things", path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The search is not set up as it should be.
    #[cfg(feature = "web")]
    #[error("the web cannot be searched")]
    Search(#[from] WebError),
    /// A tool could not be registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The servers cannot be used together.
    #[error(transparent)]
    #[cfg(feature = "mcp")]
    Servers(#[from] ServersError),
}

/// The tools of one session, and the host that they act on. Dropped, it ends what still runs in
/// the background.
#[derive(Debug)]
pub struct Toolset {
    files: Arc<Files>,
    spills: Arc<Spills>,
    host: Arc<LocalHost>,
    jobs: Arc<Jobs>,
    #[cfg(feature = "web")]
    fetch: FetchSettings,
    #[cfg(feature = "web")]
    search: Option<SearchSettings>,
    #[cfg(feature = "mcp")]
    roots: Vec<PathBuf>,
    #[cfg(feature = "mcp")]
    servers: Vec<ServerSettings>,
}

impl Toolset {
    /// Opens everything. What was kept too long ago goes.
    pub fn open(config: ToolsetConfig) -> Result<Self, ToolsetError> {
        let in_state = |name: &str, source| ToolsetError::State {
            path: config.state.join(name),
            source,
        };
        let trash_dir = config.state.join("deleted");
        let trash = Trash::open(&trash_dir, Trash::DEFAULT_CAP)
            .map_err(|error| in_state("deleted", error))?;
        let spills = Spills::new(&config.state.join("spills"), Spills::DEFAULT_CAP);
        let spills = Arc::new(spills.map_err(|error| in_state("spills", error))?);
        prune(&trash, &spills);
        let files = Files::open(&config.roots).map_err(ToolsetError::Roots)?;
        let files = Arc::new(files.refusing_symlinks().with_trash(trash));
        let mut commands = Commands::new(files.clone());
        if let Some(supervisor) = config.supervisor {
            commands = commands.with_supervisor(supervisor);
        }
        if let Some(sandbox) = config.sandbox {
            commands = commands.with_sandbox(sandbox);
        }
        let jobs = Jobs::new(commands.clone()).with_spills(spills.clone());
        let host = LocalHost::new(files.clone(), spills.clone(), commands);
        Ok(Self {
            files,
            spills,
            host: Arc::new(host),
            jobs: Arc::new(jobs),
            #[cfg(feature = "web")]
            fetch: config.fetch,
            #[cfg(feature = "web")]
            search: config.search,
            #[cfg(feature = "mcp")]
            roots: config.roots,
            #[cfg(feature = "mcp")]
            servers: config.servers,
        })
    }

    /// What the engine of the session acts on.
    pub fn host(&self) -> Arc<dyn Host> {
        self.host.clone()
    }

    /// Adds every tool.
    pub fn add_to(&self, tools: &mut Registry) -> Result<(), ToolsetError> {
        let (files, jobs) = (&self.files, &self.jobs);
        tools
            .add(ReadFile::new(files.clone(), self.spills.clone()))?
            .add(WriteFile)?
            .add(EditFile)?
            .add(DeleteFile)?
            .add(MoveFile)?
            .add(ListDirectory::new(files.clone()))?
            .add(FindPath::new(files.clone()))?
            .add(SearchFiles::new(files.clone()))?
            .add(RunCommand::new(jobs.clone()))?
            .add(CommandOutput::new(jobs.clone()))?
            .add(StopCommand::new(jobs.clone()))?;
        #[cfg(feature = "web")]
        tools.add(Fetch::new(self.fetch.clone()))?;
        tools.add(Thinking)?.add(TodoWrite)?;
        #[cfg(feature = "web")]
        if let Some(search) = &self.search {
            tools.add(WebSearch::new(search)?)?;
        }
        Ok(())
    }

    /// The servers, which nobody started yet. What they offer comes into this registry, which has
    /// the other tools already.
    #[cfg(feature = "mcp")]
    pub fn servers(&self, tools: &SharedRegistry) -> Result<Servers, ToolsetError> {
        let surroundings = Surroundings::new(self.roots.clone(), std::env::vars_os());
        let servers = Servers::new(self.servers.clone(), &surroundings, tools.clone())?;
        Ok(servers)
    }

    /// Ends what still runs in the background, and waits until it is gone.
    pub async fn close(&self) {
        self.jobs.close().await;
    }
}

/// That something old cannot be removed is no reason not to work; it is tried again next time.
fn prune(trash: &Trash, spills: &Spills) {
    if let Some(before) = SystemTime::now().checked_sub(RETENTION) {
        let _ = trash.prune(before);
        let _ = spills.prune(before);
    }
}
