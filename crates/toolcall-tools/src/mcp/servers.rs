//! The MCP servers of a session. Each one starts and fails independently of the others.
//! It does not decide which servers to trust: the caller passes in only those that may start.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use toolcall::SharedRegistry;

use super::connector::{Connector, ProgramConnector};
use super::server::McpServer;
use super::settings::{Launch, ServerSettings};
use super::status::ServerStatus;
use super::tool_cache::ToolCache;

/// The roots and the environment variables that servers get.
#[derive(Clone, Debug)]
pub struct ServerEnvironment {
    roots: Arc<[PathBuf]>,
    env: Arc<BTreeMap<OsString, OsString>>,
}

/// The variables that servers inherit: what programs need to run, and none that could hold a key.
const INHERITED: [&str; 22] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "NVM_DIR",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "UV_CACHE_DIR",
    "VOLTA_HOME",
];
const INHERITED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

impl ServerEnvironment {
    /// Creates the surroundings from the session's roots and its environment. Servers run in the first root and
    /// inherit only the variables that most programs need; others go into the settings of a server.
    pub fn new(roots: Vec<PathBuf>, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let is_inherited = |name: &OsString| {
            let name = name.to_string_lossy();
            INHERITED.contains(&&*name)
                || INHERITED_PREFIXES
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
        };
        Self {
            roots: roots.into(),
            env: Arc::new(
                env.into_iter()
                    .filter(|(name, _)| is_inherited(name))
                    .collect(),
            ),
        }
    }
}

/// Why [`Servers::new`] failed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ServersError {
    /// Two servers have the same name.
    #[error("two servers are named `{0}`; give one of them another name")]
    Duplicate(Arc<str>),
}

/// The MCP servers of a session. Dropping it asks them to end.
pub struct Servers {
    servers: Vec<Arc<McpServer>>,
    tool_cache: Arc<ToolCache>,
}

impl Servers {
    /// Creates the servers without starting them. Their tools are added to this registry once they are ready.
    pub fn new(
        settings: Vec<ServerSettings>,
        surroundings: &ServerEnvironment,
        registry: SharedRegistry,
    ) -> Result<Self, ServersError> {
        let connected = settings.into_iter().map(|settings| {
            let connector = connector(&settings.launch, surroundings);
            (settings, connector)
        });
        Self::with_connectors(connected.collect(), surroundings, registry)
    }

    pub(super) fn with_connectors(
        settings: Vec<(ServerSettings, Box<dyn Connector>)>,
        surroundings: &ServerEnvironment,
        registry: SharedRegistry,
    ) -> Result<Self, ServersError> {
        let mut names = BTreeSet::new();
        let tool_cache = Arc::new(ToolCache::new(registry));
        let mut servers = Vec::new();
        for (order, (settings, connector)) in settings.into_iter().enumerate() {
            if !names.insert(settings.name.clone()) {
                return Err(ServersError::Duplicate(settings.name));
            }
            let roots = surroundings.roots.clone();
            servers.push(Arc::new(McpServer::new(
                settings,
                connector,
                roots,
                tool_cache.clone(),
                order,
            )));
        }
        Ok(Self {
            servers,
            tool_cache,
        })
    }

    /// Starts all enabled servers concurrently, without waiting. The tools of each server are added to the
    /// registry when it is ready.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(&self) {
        for server in self.enabled() {
            server.start_if_due();
        }
    }

    /// Waits until every started server is ready or has failed.
    pub async fn settled(&self) {
        for server in self.enabled() {
            server.settled().await;
        }
    }

    /// Returns the status of each server, in the order of the settings.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    /// Ends all servers with their processes, and removes their tools from the registry.
    pub async fn close(&self) {
        for server in &self.servers {
            server.request_close();
        }
        for server in &self.servers {
            server.close().await;
        }
        self.tool_cache.clear();
    }

    fn enabled(&self) -> impl Iterator<Item = &Arc<McpServer>> {
        let servers = self.servers.iter();
        servers.filter(|server| !server.settings.is_disabled)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // The registry holds the tools, which hold their servers; without this they would go on.
        for server in &self.servers {
            server.request_close();
        }
        self.tool_cache.clear();
    }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.servers.iter().map(|server| server.name());
        f.debug_list().entries(names).finish()
    }
}

fn connector(launch: &Launch, surroundings: &ServerEnvironment) -> Box<dyn Connector> {
    match launch {
        Launch::Http(address) => Box::new(address.clone()),
        Launch::Stdio(program) => {
            let cwd = surroundings.roots.first().cloned();
            Box::new(ProgramConnector {
                program: program.clone(),
                cwd: cwd.unwrap_or_else(|| "/".into()),
                env: surroundings.env.clone(),
            })
        }
    }
}
