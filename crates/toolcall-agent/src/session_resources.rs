//! The resources of one session: tools, policy, MCP servers.
//! It only connects them; the policy decides what is allowed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcall::{Engine, EngineBuilder, Registry, SessionContext, SessionId, SharedRegistry};
use toolcall_policy::{
    FileState, Layer, Mode, PolicySources, PolicyStore, PolicyStoreConfig, UserDirs,
};
use toolcall_tools::command::{Sandbox, Supervisor};
use toolcall_tools::mcp::{ServerSettings, Servers};
use toolcall_tools::web::SearchSettings;
use toolcall_tools::{Toolset, ToolsetConfig, ToolsetError};

/// The options for [`SessionResources::open`].
#[derive(Clone, Debug)]
pub struct SessionResourcesOptions {
    /// The session.
    pub session: SessionId,
    /// The session's directories, absolute and with every symlink resolved; the first is the working
    /// directory.
    pub roots: Vec<PathBuf>,
    /// The user's configuration and state directories.
    pub places: UserDirs,
    /// The home directory that `~` stands for.
    pub home: Option<PathBuf>,
    /// The supervisor of commands.
    pub supervisor: Option<Supervisor>,
    /// The sandbox for commands.
    pub sandbox: Option<Sandbox>,
    /// The web search provider.
    pub search: Option<SearchSettings>,
    /// Rules in addition to the user's and the project's.
    pub layers: Vec<Layer>,
    /// Servers that may be started.
    pub servers: Vec<ServerSettings>,
}

/// The tools, the policy and the servers of one session.
pub struct SessionResources {
    setting: SessionContext,
    kit: Toolset,
    tools: SharedRegistry,
    servers: Servers,
    rules: PolicyStoreConfig,
    policy: PolicyStore,
}

impl SessionResources {
    /// Opens the resources. No server is started yet.
    pub fn open(options: SessionResourcesOptions) -> Result<Self, ToolsetError> {
        let setting = setting(options.session, &options.roots);
        let mut settings = ToolsetConfig::new(options.roots.clone(), options.places.state.clone());
        settings.servers = options.servers;
        settings.supervisor = options.supervisor;
        settings.sandbox = options.sandbox;
        settings.search = options.search;
        let kit = Toolset::open(settings)?;
        let mut tools = Registry::new();
        kit.add_to(&mut tools)?;
        let tools = SharedRegistry::new(tools);
        let rules = PolicyStoreConfig {
            places: options.places,
            roots: options.roots,
            home: options.home,
            layers: options.layers,
        };
        Ok(Self {
            setting,
            servers: kit.servers(&tools)?,
            kit,
            tools,
            policy: PolicyStore::open(rules.clone()),
            rules,
        })
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &Path {
        &self.setting.cwd
    }

    /// Returns the context in which calls are judged.
    pub fn setting(&self) -> &SessionContext {
        &self.setting
    }

    /// Returns the tools; servers add and remove theirs at any time.
    pub fn tools(&self) -> &SharedRegistry {
        &self.tools
    }

    /// Returns the MCP servers.
    pub fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Returns the policy.
    pub fn policy(&self) -> &PolicyStore {
        &self.policy
    }

    /// Reads the policy's files again.
    pub fn sources(&self) -> PolicySources {
        PolicySources::read(&self.rules)
    }

    /// Returns the user's directories.
    pub fn places(&self) -> &UserDirs {
        &self.rules.places
    }

    /// Returns an engine builder with these tools.
    pub fn engine(&self) -> EngineBuilder {
        self.engine_with(self.tools.clone())
    }

    /// Returns an engine builder with other tools.
    pub fn engine_with(&self, tools: impl Into<SharedRegistry>) -> EngineBuilder {
        Engine::builder(tools)
            .setting(self.setting.clone())
            .host(self.kit.host())
            .rulebook(Arc::new(self.policy.clone()))
    }

    /// Returns the host that the tools act on.
    pub fn host(&self) -> Arc<dyn toolcall::Host> {
        self.kit.host()
    }

    /// Returns what the user should know about the policy before the first call.
    pub fn warnings(&self) -> Vec<String> {
        let mode = Mode::warning(self.policy.rules().mode()).map(str::to_owned);
        let untrusted = self.sources();
        let untrusted = untrusted.files().iter().filter_map(|file| match &file.state {
            FileState::Untrusted(_) => Some(format!(
                "`{}` is not trusted, so what it allows is left out; look at it with `toolcall trust`",
                file.path.display()
            )),
            FileState::Absent | FileState::Active(_) | FileState::Broken(_) => None,
        });
        let problem = self.policy.problem();
        let problem = problem.map(|problem| format!("every call is denied: {problem}"));
        mode.into_iter().chain(problem).chain(untrusted).collect()
    }

    /// Ends servers and background commands, and waits until they have ended.
    pub async fn close(&self) {
        self.servers.close().await;
        self.kit.close().await;
    }
}

fn setting(session: SessionId, roots: &[PathBuf]) -> SessionContext {
    let cwd = roots.first().cloned().unwrap_or_default();
    SessionContext {
        roots: roots.to_vec(),
        ..SessionContext::new(session, cwd)
    }
}

/// Returns a random session id that is short enough to type.
pub fn new_session() -> SessionId {
    const LENGTH: usize = 12;
    let long = SessionId::random();
    let long = long.as_str();
    SessionId::new(&long[long.len().saturating_sub(LENGTH)..])
}
