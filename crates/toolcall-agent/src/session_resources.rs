//! What one session works with: the tools of this machine, the rules that hold there, its servers.
//! Put together only: what may be done is the policy's to say.

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

/// What a resources is made from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whose calls these are.
    pub session: SessionId,
    /// The folders to work in, absolute and with every link followed; the first is the session's own.
    pub roots: Vec<PathBuf>,
    /// Where the person's settings are, and where things are kept.
    pub places: UserDirs,
    /// What `~` stands for, if anything.
    pub home: Option<PathBuf>,
    /// What supervises commands.
    pub supervisor: Option<Supervisor>,
    /// The sandbox that commands run in, if they run in one.
    pub sandbox: Option<Sandbox>,
    /// Where the web is searched, if it is.
    pub search: Option<SearchSettings>,
    /// Rules besides those of the person and the project.
    pub layers: Vec<Layer>,
    /// Servers that may be started.
    pub servers: Vec<ServerSettings>,
}

/// What one session works with.
pub struct SessionResources {
    setting: SessionContext,
    kit: Toolset,
    tools: SharedRegistry,
    servers: Servers,
    rules: PolicyStoreConfig,
    policy: PolicyStore,
}

impl SessionResources {
    /// Opens it. No server is started yet.
    pub fn open(plan: Plan) -> Result<Self, ToolsetError> {
        let setting = setting(plan.session, &plan.roots);
        let mut settings = ToolsetConfig::new(plan.roots.clone(), plan.places.state.clone());
        settings.servers = plan.servers;
        settings.supervisor = plan.supervisor;
        settings.sandbox = plan.sandbox;
        settings.search = plan.search;
        let kit = Toolset::open(settings)?;
        let mut tools = Registry::new();
        kit.add_to(&mut tools)?;
        let tools = SharedRegistry::new(tools);
        let rules = PolicyStoreConfig {
            places: plan.places,
            roots: plan.roots,
            home: plan.home,
            layers: plan.layers,
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

    /// The folder it works in.
    pub fn cwd(&self) -> &Path {
        &self.setting.cwd
    }

    /// What calls are judged in.
    pub fn setting(&self) -> &SessionContext {
        &self.setting
    }

    /// The tools, as they come and go.
    pub fn tools(&self) -> &SharedRegistry {
        &self.tools
    }

    /// The servers.
    pub fn servers(&self) -> &Servers {
        &self.servers
    }

    /// The rules that hold.
    pub fn policy(&self) -> &PolicyStore {
        &self.policy
    }

    /// The files that they come from, read again.
    pub fn sources(&self) -> PolicySources {
        PolicySources::read(&self.rules)
    }

    /// Where things are kept.
    pub fn places(&self) -> &UserDirs {
        &self.rules.places
    }

    /// An engine with these tools.
    pub fn engine(&self) -> EngineBuilder {
        self.engine_with(self.tools.clone())
    }

    /// An engine here, with other tools.
    pub fn engine_with(&self, tools: impl Into<SharedRegistry>) -> EngineBuilder {
        Engine::builder(tools)
            .setting(self.setting.clone())
            .host(self.kit.host())
            .rulebook(Arc::new(self.policy.clone()))
    }

    /// The host that its tools act on.
    pub fn host(&self) -> Arc<dyn toolcall::Host> {
        self.kit.host()
    }

    /// What a person should know of the rules before anything is done by them.
    pub fn warnings(&self) -> Vec<String> {
        let mode = Mode::warning(self.policy.rules().mode()).map(str::to_owned);
        let untrusted = self.sources();
        let untrusted = untrusted.files().iter().filter_map(|file| match &file.state {
            FileState::OnlyTightens(_) => Some(format!(
                "`{}` is not trusted, so what it allows is left out; look at it with `toolcall trust`",
                file.path.display()
            )),
            FileState::Absent | FileState::Holds(_) | FileState::Broken(_) => None,
        });
        let problem = self.policy.problem();
        let problem = problem.map(|problem| format!("every call is denied: {problem}"));
        mode.into_iter().chain(problem).chain(untrusted).collect()
    }

    /// Ends servers and what still runs in the background, and waits until that is gone.
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

/// A session of its own, with a name that is short enough to be typed.
pub fn new_session() -> SessionId {
    const LENGTH: usize = 12;
    let long = SessionId::random();
    let long = long.as_str();
    SessionId::new(&long[long.len().saturating_sub(LENGTH)..])
}
