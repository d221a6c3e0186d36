//! The servers of a session: nothing runs before `start`, and each lives and fails on its own.
//! Which of them may start is for the caller to say; here they are only carried.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use toolcall::SharedRegistry;

use super::dial::{Dial, ProgramDial};
use super::server::Server;
use super::settings::{Launch, ServerSettings};
use super::status::ServerStatus;
use super::tool_cache::ToolCache;

/// Where servers live.
#[derive(Clone, Debug)]
pub struct Surroundings {
    roots: Arc<[PathBuf]>,
    env: Arc<BTreeMap<OsString, OsString>>,
}

/// Variables that are handed on: what programs need to run, and nothing that could be a key.
const HANDED_ON: [&str; 22] = [
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
const HANDED_ON_BY_PREFIX: [&str; 2] = ["LC_", "XDG_"];

impl Surroundings {
    /// These roots, the first of which servers run in, and those of these variables that any
    /// program needs. What else a server needs is in its settings.
    pub fn new(roots: Vec<PathBuf>, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let is_handed_on = |name: &OsString| {
            let name = name.to_string_lossy();
            HANDED_ON.contains(&&*name)
                || HANDED_ON_BY_PREFIX
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
        };
        Self {
            roots: roots.into(),
            env: Arc::new(
                env.into_iter()
                    .filter(|(name, _)| is_handed_on(name))
                    .collect(),
            ),
        }
    }
}

/// Why servers cannot live together.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ServersError {
    /// Two of one name.
    #[error("two servers are named `{0}`; give one of them another name")]
    Duplicate(Arc<str>),
}

/// The servers of a session. Dropped, they are told to end.
pub struct Servers {
    servers: Vec<Arc<Server>>,
    shelf: Arc<ToolCache>,
}

impl Servers {
    /// These servers, whose tools come into this registry once they are started.
    pub fn new(
        settings: Vec<ServerSettings>,
        surroundings: &Surroundings,
        registry: SharedRegistry,
    ) -> Result<Self, ServersError> {
        let dialled = settings.into_iter().map(|settings| {
            let dial = dial(&settings.launch, surroundings);
            (settings, dial)
        });
        Self::dialled(dialled.collect(), surroundings, registry)
    }

    pub(super) fn dialled(
        settings: Vec<(ServerSettings, Box<dyn Dial>)>,
        surroundings: &Surroundings,
        registry: SharedRegistry,
    ) -> Result<Self, ServersError> {
        let mut names = BTreeSet::new();
        let shelf = Arc::new(ToolCache::new(registry));
        let mut servers = Vec::new();
        for (order, (settings, dial)) in settings.into_iter().enumerate() {
            if !names.insert(settings.name.clone()) {
                return Err(ServersError::Duplicate(settings.name));
            }
            let roots = surroundings.roots.clone();
            servers.push(Arc::new(Server::new(
                settings,
                dial,
                roots,
                shelf.clone(),
                order,
            )));
        }
        Ok(Self { servers, shelf })
    }

    /// Starts those that are not disabled, side by side, and waits for none of them. Their tools
    /// come into the registry as they are ready. Needs a tokio runtime.
    pub fn start(&self) {
        for server in self.enabled() {
            server.set_off();
        }
    }

    /// Waits until each server that was started is ready or failed.
    pub async fn settled(&self) {
        for server in self.enabled() {
            server.settled().await;
        }
    }

    /// How each server is, in the order of the settings.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    /// Ends them all, with everything they started, and takes their tools away.
    pub async fn close(&self) {
        for server in &self.servers {
            server.hang_up();
        }
        for server in &self.servers {
            server.close().await;
        }
        self.shelf.clear();
    }

    fn enabled(&self) -> impl Iterator<Item = &Arc<Server>> {
        let servers = self.servers.iter();
        servers.filter(|server| !server.settings.is_disabled)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // The registry holds the tools and those their servers; without this they would go on.
        for server in &self.servers {
            server.hang_up();
        }
        self.shelf.clear();
    }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.servers.iter().map(|server| server.name());
        f.debug_list().entries(names).finish()
    }
}

fn dial(launch: &Launch, surroundings: &Surroundings) -> Box<dyn Dial> {
    match launch {
        Launch::Http(address) => Box::new(address.clone()),
        Launch::Stdio(program) => {
            let cwd = surroundings.roots.first().cloned();
            Box::new(ProgramDial {
                program: program.clone(),
                cwd: cwd.unwrap_or_else(|| "/".into()),
                env: surroundings.env.clone(),
            })
        }
    }
}
