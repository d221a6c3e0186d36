//! The built-in tools on this machine, put together for one folder with the rules that hold there.
//! Assembly only: what may be done is the policy's to say.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use toolcall::{CallIds, EngineBuilder, Registry, SessionContext, SessionId};
use toolcall_agent::{ConfiguredServers, SessionResources};
use toolcall_history::SessionFacts;
use toolcall_policy::{Layer, PolicySources, PolicyStore};
use toolcall_tools::command::{Network, Sandbox, Supervisor};
use toolcall_tools::mcp::{ServerState, ServerStatus};

use crate::config::Config;
use crate::places::{Person, history_file};
use crate::recording::Recording;
use crate::telemetry::Tracing;
use crate::view::one_line;

/// A workplace for one folder, as the commands of this program use it.
pub(crate) struct Workshop {
    place: SessionResources,
    session: SessionId,
    settings: Config,
    set_up: ConfiguredServers,
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

impl Walls {
    /// The higher ones of two.
    pub(crate) fn or(self, other: Walls) -> Walls {
        match (self, other) {
            (Walls::None, Walls::None) => Walls::None,
            (Walls::Sandbox, _) | (_, Walls::Sandbox) => Walls::Sandbox,
        }
    }

    pub(crate) fn sandbox(self) -> Option<Sandbox> {
        match self {
            Walls::None => None,
            Walls::Sandbox => Some(Sandbox::new(Network::Refused)),
        }
    }
}

impl Workshop {
    /// Opens the tools for a folder, as the person's settings say.
    pub(crate) fn open(plan: Plan) -> anyhow::Result<Self> {
        let cwd = working_folder(plan.folder.as_deref())?;
        let settings = Config::read(&plan.person)?;
        let set_up = ConfiguredServers::read(&plan.person.places, &cwd);
        let mut servers = set_up.usable();
        servers.retain(|server| plan.crew.has(&server.name));
        let place = SessionResources::open(toolcall_agent::SessionResourcesOptions {
            session: plan.session.clone(),
            roots: vec![cwd],
            places: plan.person.places,
            home: plan.person.home,
            supervisor: Some(plan.supervisor),
            sandbox: plan.walls.or(settings.walls).sandbox(),
            search: settings.search(|name| std::env::var(name).ok())?,
            layers: plan.layers,
            servers,
        })?;
        Ok(Self {
            place,
            session: plan.session,
            settings,
            set_up,
            tracing: Tracing::default(),
        })
    }

    /// Where it works.
    pub(crate) fn cwd(&self) -> &Path {
        self.place.cwd()
    }

    /// The rules that hold.
    pub(crate) fn book(&self) -> &PolicyStore {
        self.place.policy()
    }

    /// The files that they come from, read again.
    pub(crate) fn sources(&self) -> PolicySources {
        self.place.sources()
    }

    /// What calls are judged in.
    pub(crate) fn setting(&self) -> SessionContext {
        self.place.setting().clone()
    }

    /// The tools that are there by now: the built-in ones, and those of servers that were started.
    pub(crate) fn tools(&self) -> Arc<Registry> {
        self.place.tools().snapshot()
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
        let servers = self.place.servers();
        servers.start();
        servers.settled().await;
        servers.status()
    }

    /// An engine with these tools.
    pub(crate) fn engine(&self) -> EngineBuilder {
        let engine = self
            .place
            .engine()
            .ids(CallIds::new("call"))
            .limits(self.settings.limits());
        self.tracing.attach(engine)
    }

    /// Who is told of calls.
    pub(crate) fn tracing(&self) -> &Tracing {
        &self.tracing
    }

    /// Opens the history and keeps there what happens to this session, if the person wants it.
    pub(crate) fn record(&self, agent: &'static str) -> anyhow::Result<Recording> {
        let wishes = &self.settings.history;
        if !wishes.is_enabled {
            return Ok(Recording::off());
        }
        let facts = SessionFacts {
            agent: agent.into(),
            agent_version: env!("CARGO_PKG_VERSION").into(),
            cwd: self.cwd().to_owned(),
            ..SessionFacts::default()
        };
        let file = history_file(self.place.places());
        Recording::begin(file, wishes.settings(), &self.session, facts)
    }

    /// What a person should know of the rules before anything is done by them.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.place.warnings()
    }

    /// Ends servers and what still runs in the background, and tells the last of it.
    pub(crate) async fn close(&self) {
        self.place.close().await;
        self.tracing.close().await;
    }
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
