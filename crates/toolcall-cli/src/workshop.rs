//! The built-in tools on this machine, put together for one folder with the rules that hold there.
//! Assembly only: what may be done is the policy's to say.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use toolcall::{Counted, Engine, EngineBuilder, Registry, SessionId, Setting, SharedRegistry};
use toolcall_history::SessionFacts;
use toolcall_policy::{Book, BookSettings, FileState, Layer, Mode, Sources};
use toolcall_tools::command::{Network, Sandbox, Supervisor};
use toolcall_tools::mcp::{ServerState, ServerStatus, Servers};
use toolcall_tools::{Kit, KitSettings};

use crate::places::{Person, history_file};
use crate::recording::Recording;
use crate::servers::SetUp;
use crate::telemetry::Tracing;
use crate::view::one_line;

/// Tools and rules for one folder.
pub(crate) struct Workshop {
    cwd: PathBuf,
    session: SessionId,
    kit: Kit,
    tools: SharedRegistry,
    servers: Servers,
    set_up: SetUp,
    rules: BookSettings,
    book: Book,
    tracing: Tracing,
}

/// What a workshop is made of.
pub(crate) struct Plan {
    /// The folder to work in; the current one if none is given.
    pub(crate) folder: Option<PathBuf>,
    /// Whose calls these are.
    pub(crate) session: SessionId,
    /// Whose settings hold, and where things are kept.
    pub(crate) person: Person,
    pub(crate) supervisor: Supervisor,
    pub(crate) walls: Walls,
    /// What the command line says about rules.
    pub(crate) layers: Vec<Layer>,
    pub(crate) crew: Crew,
}

/// Which servers belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Crew {
    Every,
    Only(String),
}

impl Crew {
    fn has(&self, name: &str) -> bool {
        match self {
            Crew::Every => true,
            Crew::Only(only) => only == name,
        }
    }
}

/// What is around commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walls {
    None,
    /// They write to the folder only, and reach no network.
    Sandbox,
}

impl Workshop {
    /// Opens the tools for a folder.
    pub(crate) fn open(plan: Plan) -> anyhow::Result<Self> {
        let cwd = working_folder(plan.folder.as_deref())?;
        let set_up = SetUp::read(&plan.person, &cwd);
        let state = plan.person.places.state.clone();
        let mut settings = KitSettings::new(vec![cwd.clone()], state);
        settings.servers = set_up.usable();
        settings
            .servers
            .retain(|server| plan.crew.has(&server.name));
        settings.supervisor = Some(plan.supervisor);
        settings.sandbox = match plan.walls {
            Walls::None => None,
            Walls::Sandbox => Some(Sandbox::new(Network::Refused)),
        };
        let rules = BookSettings {
            places: plan.person.places,
            roots: vec![cwd.clone()],
            home: plan.person.home,
            layers: plan.layers,
        };
        let kit = Kit::open(settings)?;
        let mut tools = Registry::new();
        kit.add_to(&mut tools)?;
        let tools = SharedRegistry::new(tools);
        Ok(Self {
            cwd,
            session: plan.session,
            servers: kit.servers(&tools)?,
            kit,
            tools,
            set_up,
            book: Book::open(rules.clone()),
            rules,
            tracing: Tracing::default(),
        })
    }

    /// Where it works.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The rules that hold.
    pub(crate) fn book(&self) -> &Book {
        &self.book
    }

    /// The files that they come from, read again.
    pub(crate) fn sources(&self) -> Sources {
        Sources::read(&self.rules)
    }

    /// What calls are judged in.
    pub(crate) fn setting(&self) -> Setting {
        Setting::new(self.session.clone(), &self.cwd)
    }

    /// The tools that are there by now: the built-in ones, and those of servers that were started.
    pub(crate) fn tools(&self) -> Arc<Registry> {
        self.tools.snapshot()
    }

    /// Every tool. Servers are started for it; what is wrong with one is a warning.
    pub(crate) async fn every_tool(&self) -> Arc<Registry> {
        for warning in self.set_up.warnings() {
            anstream::eprintln!("warning: {}", one_line(&warning));
        }
        for status in self.try_servers().await {
            if let ServerState::Failed { reason } = &status.state {
                let (name, reason) = (&status.name, one_line(reason));
                anstream::eprintln!("warning: the server `{name}` cannot be used: {reason}");
            }
        }
        self.tools()
    }

    /// The tools that a call of this one needs: servers are started if it may be theirs.
    pub(crate) async fn tools_for(&self, tool: &str) -> Arc<Registry> {
        match self.tools().definition(tool) {
            Some(_) => self.tools(),
            None => self.every_tool().await,
        }
    }

    /// Starts the servers and waits until each can be used or failed.
    pub(crate) async fn try_servers(&self) -> Vec<ServerStatus> {
        let waiting = self.set_up.usable().len();
        if waiting > 0 && std::io::stderr().is_terminal() {
            anstream::eprintln!("starting {waiting} MCP servers …");
        }
        self.servers.start();
        self.servers.settled().await;
        self.servers.status()
    }

    /// An engine with these tools.
    pub(crate) fn engine(&self) -> EngineBuilder {
        self.engine_with(self.tools.clone())
    }

    /// An engine on this machine with other tools.
    pub(crate) fn engine_with(&self, tools: impl Into<SharedRegistry>) -> EngineBuilder {
        let engine = Engine::builder(tools)
            .setting(self.setting())
            .host(self.kit.host())
            .rulebook(Arc::new(self.book.clone()))
            .ids(Counted::new("call"));
        self.tracing.attach(engine)
    }

    /// Who is told of calls.
    pub(crate) fn tracing(&self) -> &Tracing {
        &self.tracing
    }

    /// Opens the history and keeps there what happens to this session.
    pub(crate) fn record(&self, agent: &'static str) -> Recording {
        let facts = SessionFacts {
            agent: agent.into(),
            agent_version: env!("CARGO_PKG_VERSION").into(),
            cwd: self.cwd.clone(),
            ..SessionFacts::default()
        };
        Recording::begin(history_file(&self.rules.places), &self.session, facts)
    }

    /// What a person should know of the rules before anything is done by them.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.mode_warning().into_iter().collect();
        for file in self.sources().files() {
            if let FileState::OnlyTightens(_) = file.state {
                warnings.push(format!(
                    "`{}` is not trusted, so what it allows is left out; look at it with `toolcall trust`",
                    file.path.display()
                ));
            }
        }
        warnings
    }

    fn mode_warning(&self) -> Option<String> {
        Mode::warning(self.book.rules().mode()).map(str::to_owned)
    }

    /// Ends servers and what still runs in the background, and tells the last of it.
    pub(crate) async fn close(&self) {
        self.servers.close().await;
        self.kit.close().await;
        self.tracing.close().await;
    }
}

/// A session of its own, with a name that is short enough to be typed.
pub(crate) fn new_session() -> SessionId {
    const LENGTH: usize = 12;
    let long = SessionId::random();
    let long = long.as_str();
    SessionId::new(&long[long.len().saturating_sub(LENGTH)..])
}

/// The folder with every link in its own path followed, as tools name what is beneath it.
pub(crate) fn working_folder(folder: Option<&Path>) -> anyhow::Result<PathBuf> {
    match folder {
        Some(folder) => folder
            .canonicalize()
            .with_context(|| format!("`{}` is no folder to work in", folder.display())),
        None => std::env::current_dir().context("there is no current folder to work in"),
    }
}
