//! Assembles what the tools of one session use: files, spills, trash, commands, the web, MCP servers.
//! It opens only what its configuration names and decides nothing about permission.

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
use crate::mcp::{ServerEnvironment, ServerSettings, Servers, ServersError};
use crate::tools::{
    CommandOutput, DeleteFile, EditFile, FindPath, ListDirectory, MoveFile, ReadFile, RunCommand,
    SearchFiles, StopCommand, Thinking, TodoWrite, WriteFile,
};
#[cfg(feature = "web")]
use crate::tools::{Fetch, WebSearch};
#[cfg(feature = "web")]
use crate::web::{FetchSettings, SearchSettings, WebError};

/// How long spills and deleted files are kept.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The configuration of a [`Toolset`].
///
/// ```
/// use toolcall_tools::ToolsetConfig;
/// use toolcall_tools::command::{Network, Sandbox};
///
/// let mut config = ToolsetConfig::new(vec!["/home/me/project".into()], "/home/me/.local/state/agent");
/// config.sandbox = Some(Sandbox::new(Network::Refused));
/// ```
#[derive(Clone, Debug)]
pub struct ToolsetConfig {
    /// Absolute paths of the directories that the session works in; the first is its working
    /// directory.
    pub roots: Vec<PathBuf>,
    /// A directory for long output and deleted files, outside of the roots.
    pub state: PathBuf,
    /// The supervisor of commands. Without one, processes that leave a command's process group
    /// survive it.
    pub supervisor: Option<Supervisor>,
    /// The sandbox that commands run in, if any. It needs a supervisor.
    pub sandbox: Option<Sandbox>,
    /// The settings of the tool `fetch`.
    #[cfg(feature = "web")]
    pub fetch: FetchSettings,
    /// The search service. Without one there is no tool `web_search`.
    #[cfg(feature = "web")]
    pub search: Option<SearchSettings>,
    /// MCP servers whose tools join the session: only those that the user trusts.
    #[cfg(feature = "mcp")]
    pub servers: Vec<ServerSettings>,
}

impl ToolsetConfig {
    /// A configuration with these roots and this state directory, and defaults for the rest: no
    /// supervisor, no sandbox, no search, no servers.
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

/// Why a [`Toolset`] cannot be opened or its tools cannot be registered.
#[derive(Debug, Error)]
pub enum ToolsetError {
    /// A root cannot be opened.
    #[error("the folders of the session cannot be opened")]
    Roots(#[source] io::Error),
    /// A directory in the state directory cannot be used.
    #[error("the state directory `{}` cannot be used", path.display())]
    State {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The search service is misconfigured.
    #[cfg(feature = "web")]
    #[error("the web cannot be searched")]
    Search(#[from] WebError),
    /// A tool could not be registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The MCP servers cannot be used together.
    #[error(transparent)]
    #[cfg(feature = "mcp")]
    Servers(#[from] ServersError),
}

/// The tools of one session and the host that they act on. Dropping it ends commands that still
/// run in the background. The [crate documentation](crate) has an example.
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
    /// Opens the roots and the state directory, and removes spills and deleted files that are more
    /// than 30 days old.
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

    /// Returns the host for the session's engine.
    pub fn host(&self) -> Arc<dyn Host> {
        self.host.clone()
    }

    /// Registers every tool except those of MCP servers.
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

    /// Returns the MCP servers, not started yet. Once started, they add their tools to this registry,
    /// which already holds the other tools.
    #[cfg(feature = "mcp")]
    pub fn servers(&self, tools: &SharedRegistry) -> Result<Servers, ToolsetError> {
        let surroundings = ServerEnvironment::new(self.roots.clone(), std::env::vars_os());
        let servers = Servers::new(self.servers.clone(), &surroundings, tools.clone())?;
        Ok(servers)
    }

    /// Ends every background command and waits until its processes are gone.
    pub async fn close(&self) {
        self.jobs.close().await;
    }
}

/// Removes what is past its retention. A failure is ignored: the next session tries again.
fn prune(trash: &Trash, spills: &Spills) {
    if let Some(before) = SystemTime::now().checked_sub(RETENTION) {
        let _ = trash.prune(before);
        let _ = spills.prune(before);
    }
}
