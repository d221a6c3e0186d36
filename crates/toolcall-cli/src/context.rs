//! What a command of this program needs in one directory: tools, policy, settings and MCP servers.
//! Assembly only: the policy decides what is allowed.

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
use crate::environment::{UserEnvironment, history_file};
use crate::recording::SessionRecording;
use crate::telemetry::Tracing;
use crate::view::{one_line, pluralize};

/// The tools, policy and settings of one directory, as the commands of this program use them.
pub(crate) struct CliContext {
    resources: SessionResources,
    session: SessionId,
    settings: Config,
    configured_servers: ConfiguredServers,
    tracing: Tracing,
}

/// The parameters of [`CliContext::open`].
pub(crate) struct CliContextOptions {
    /// The working directory; the current one if `None`.
    pub(crate) directory: Option<PathBuf>,
    /// The session that the calls belong to.
    pub(crate) session: SessionId,
    /// The user's directories, with settings and history.
    pub(crate) user: UserEnvironment,
    pub(crate) supervisor: Supervisor,
    pub(crate) isolation: CommandIsolation,
    /// Policy layers from the command line.
    pub(crate) layers: Vec<Layer>,
    pub(crate) servers: ServerSelection,
}

/// Which of the configured MCP servers are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerSelection {
    All,
    Only(String),
}

impl ServerSelection {
    fn includes(&self, name: &str) -> bool {
        match self {
            ServerSelection::All => true,
            ServerSelection::Only(only) => only == name,
        }
    }
}

/// Whether commands run in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandIsolation {
    None,
    /// Commands write only to the working directory and have no network access.
    Sandbox,
}

impl CommandIsolation {
    /// Returns the flag `--sandbox` as an isolation.
    pub(crate) fn from_flag(sandbox: bool) -> Self {
        if sandbox {
            CommandIsolation::Sandbox
        } else {
            CommandIsolation::None
        }
    }

    /// Returns the stricter of two.
    pub(crate) fn or(self, other: CommandIsolation) -> CommandIsolation {
        match (self, other) {
            (CommandIsolation::None, CommandIsolation::None) => CommandIsolation::None,
            (CommandIsolation::Sandbox, _) | (_, CommandIsolation::Sandbox) => {
                CommandIsolation::Sandbox
            }
        }
    }

    pub(crate) fn sandbox(self) -> Option<Sandbox> {
        match self {
            CommandIsolation::None => None,
            CommandIsolation::Sandbox => Some(Sandbox::new(Network::Refused)),
        }
    }
}

impl CliContext {
    /// Opens the tools for a directory, with the user's settings.
    pub(crate) fn open(options: CliContextOptions) -> anyhow::Result<Self> {
        let cwd = working_directory(options.directory.as_deref())?;
        let settings = Config::read(&options.user)?;
        let configured_servers = ConfiguredServers::read(&options.user.dirs, &cwd);
        let mut servers = configured_servers.usable();
        servers.retain(|server| options.servers.includes(&server.name));
        let resources = SessionResources::open(toolcall_agent::SessionResourcesOptions {
            session: options.session.clone(),
            roots: vec![cwd],
            places: options.user.dirs,
            home: options.user.home,
            supervisor: Some(options.supervisor),
            sandbox: options.isolation.or(settings.isolation).sandbox(),
            search: settings.search(|name| std::env::var(name).ok())?,
            layers: options.layers,
            servers,
        })?;
        Ok(Self {
            resources,
            session: options.session,
            settings,
            configured_servers,
            tracing: Tracing::default(),
        })
    }

    /// Returns the working directory.
    pub(crate) fn cwd(&self) -> &Path {
        self.resources.cwd()
    }

    /// Returns the rules in effect.
    pub(crate) fn policy_store(&self) -> &PolicyStore {
        self.resources.policy()
    }

    /// Reads the policy files again.
    pub(crate) fn sources(&self) -> PolicySources {
        self.resources.sources()
    }

    /// Returns the context in which the policy evaluates calls.
    pub(crate) fn session_context(&self) -> SessionContext {
        self.resources.setting().clone()
    }

    /// Returns the built-in tools, and those of servers that are started.
    pub(crate) fn tools(&self) -> Arc<Registry> {
        self.resources.tools().snapshot()
    }

    /// Starts the servers and returns every tool. Prints a warning for each server that fails.
    pub(crate) async fn all_tools(&self) -> Arc<Registry> {
        for warning in self.configured_servers.warnings() {
            anstream::eprintln!("warning: {}", one_line(&warning));
        }
        for status in self.start_servers().await {
            if let ServerState::Failed { reason } = &status.state {
                let (name, reason) = (&status.name, one_line(reason));
                anstream::eprintln!("warning: the server `{name}` cannot be used: {reason}");
            }
        }
        self.tools()
    }

    /// Returns tools that include `tool`. Starts the servers if it is not a built-in one.
    pub(crate) async fn tools_for(&self, tool: &str) -> Arc<Registry> {
        if self.tools().definition(tool).is_some() {
            return self.tools();
        }
        self.all_tools().await
    }

    /// Starts the servers and waits until each is ready or has failed.
    pub(crate) async fn start_servers(&self) -> Vec<ServerStatus> {
        let count = self.configured_servers.usable().len();
        if count > 0 && std::io::stderr().is_terminal() {
            anstream::eprintln!("starting {} …", pluralize(count, "MCP server"));
        }
        let servers = self.resources.servers();
        servers.start();
        servers.settled().await;
        servers.status()
    }

    /// Returns a builder for an engine with these tools.
    pub(crate) fn engine(&self) -> EngineBuilder {
        let engine = self
            .resources
            .engine()
            .ids(CallIds::new("call"))
            .limits(self.settings.limits());
        self.tracing.attach(engine)
    }

    /// Returns the telemetry that calls are sent to.
    pub(crate) fn tracing(&self) -> &Tracing {
        &self.tracing
    }

    /// Opens the history and begins recording this session, unless the settings disable the history.
    pub(crate) fn record(&self, agent: &'static str) -> anyhow::Result<SessionRecording> {
        let history = &self.settings.history;
        if !history.is_enabled {
            return Ok(SessionRecording::off());
        }
        let facts = SessionFacts {
            agent: agent.into(),
            agent_version: env!("CARGO_PKG_VERSION").into(),
            cwd: self.cwd().to_owned(),
            ..SessionFacts::default()
        };
        let file = history_file(self.resources.places());
        SessionRecording::begin(file, history.to_config(), &self.session, facts)
    }

    /// Returns warnings about the policy, for the user to see before a call.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.resources.warnings()
    }

    /// Ends servers and background processes, and flushes telemetry.
    pub(crate) async fn close(&self) {
        self.resources.close().await;
        self.tracing.close().await;
    }
}

/// Returns the working directory with symlinks resolved, as paths of tools begin with it.
pub(crate) fn working_directory(directory: Option<&Path>) -> anyhow::Result<PathBuf> {
    match directory {
        Some(directory) => directory
            .canonicalize()
            .with_context(|| format!("`{}` is not a directory to work in", directory.display())),
        None => std::env::current_dir().context("the current directory cannot be determined"),
    }
}
