//! Where the tools of all servers stand together: named apart, and put into the registry.
//! It changes no built-in tool, and a tool that changed is another tool from then on.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use toolcall::{Registry, SharedRegistry};

use super::listing::Offered;
use super::names;
use super::server::Server;
use super::tool::McpTool;

/// The tools of all servers.
pub(super) struct ToolCache {
    registry: SharedRegistry,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What each server offers, in the order of the servers.
    offered: BTreeMap<usize, (Arc<Server>, Vec<Arc<Offered>>)>,
    /// What is registered, by name.
    placed: BTreeMap<Arc<str>, Placed>,
}

/// A tool in the registry.
struct Placed {
    server: usize,
    offered: Arc<Offered>,
}

impl ToolCache {
    pub(super) fn new(registry: SharedRegistry) -> Self {
        Self {
            registry,
            state: Mutex::default(),
        }
    }

    /// Puts all that a server offers in the place of what it offered before, and says what is
    /// worth knowing about that.
    pub(super) fn put(&self, server: &Arc<Server>, tools: Vec<Offered>) -> Vec<String> {
        let tools: Vec<_> = tools.into_iter().map(Arc::new).collect();
        let mut state = self.state.lock();
        let before = state
            .offered
            .insert(server.order(), (server.clone(), tools.clone()));
        let mut notes = match before {
            Some((_, before)) => differences(&before, &tools),
            None => Vec::new(),
        };
        notes.extend(self.registry.change(|registry| state.place(registry)));
        notes
    }

    /// Whether a server still offers exactly this tool.
    pub(super) fn offers(&self, server: usize, tool: &Offered) -> bool {
        let state = self.state.lock();
        let offered = state.offered.get(&server).map(|(_, offered)| offered);
        let is_same =
            |other: &Arc<Offered>| other.native() == tool.native() && other.digest == tool.digest;
        offered.into_iter().flatten().any(is_same)
    }

    /// The names by which a server's tools are called.
    pub(super) fn names(&self, server: usize) -> Vec<Arc<str>> {
        let state = self.state.lock();
        let placed = state.placed.iter();
        placed
            .filter(|(_, placed)| placed.server == server)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Takes all that a server offered away.
    pub(super) fn withdraw(&self, server: usize) {
        let mut state = self.state.lock();
        state.offered.remove(&server);
        self.registry.change(|registry| state.place(registry));
    }

    /// Takes everything away.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock();
        state.offered.clear();
        self.registry.change(|registry| state.place(registry));
    }
}

impl State {
    /// Makes the registry hold exactly what is offered, by names that nobody else has.
    fn place(&mut self, registry: &mut Registry) -> Vec<String> {
        let offered = self.offered.values();
        let all: Vec<(Arc<Server>, Arc<Offered>)> = offered
            .flat_map(|(server, tools)| tools.iter().map(|tool| (server.clone(), tool.clone())))
            .collect();
        let pairs: Vec<(&str, &str)> = all
            .iter()
            .map(|(server, tool)| (&**server.name(), &**tool.native()))
            .collect();
        let is_built_in =
            |name: &str| registry.definition(name).is_some() && !self.placed.contains_key(name);
        let wanted: BTreeMap<Arc<str>, _> = names::assign(&pairs, is_built_in)
            .into_iter()
            .map(Arc::from)
            .zip(all)
            .collect();
        self.remove_others(registry, &wanted);
        self.add_missing(registry, wanted)
    }

    fn remove_others(
        &mut self,
        registry: &mut Registry,
        wanted: &BTreeMap<Arc<str>, (Arc<Server>, Arc<Offered>)>,
    ) {
        self.placed.retain(|name, placed| {
            let stays = wanted.get(name).is_some_and(|(server, tool)| {
                server.order() == placed.server && **tool == *placed.offered
            });
            if !stays {
                registry.remove(name);
            }
            stays
        });
    }

    fn add_missing(
        &mut self,
        registry: &mut Registry,
        wanted: BTreeMap<Arc<str>, (Arc<Server>, Arc<Offered>)>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, (server, offered)) in wanted {
            if self.placed.contains_key(&name) {
                continue;
            }
            let order = server.order();
            let tool = McpTool::new(name.clone(), server, offered.clone());
            match registry.add_any(Arc::new(tool)) {
                Ok(_) => {
                    let server = order;
                    self.placed.insert(name, Placed { server, offered });
                }
                Err(error) => notes.push(format!(
                    "the tool `{}` is left out: {error}",
                    offered.native()
                )),
            }
        }
        notes
    }
}

/// What changed between two lists of one server.
fn differences(before: &[Arc<Offered>], now: &[Arc<Offered>]) -> Vec<String> {
    let find = |list: &[Arc<Offered>], tool: &Offered| {
        list.iter()
            .find(|other| other.native() == tool.native())
            .cloned()
    };
    let mut notes = Vec::new();
    for tool in now {
        match find(before, tool) {
            None => notes.push(format!("the tool `{}` is new", tool.native())),
            Some(old) if old.digest != tool.digest => notes.push(format!(
                "the tool `{}` is defined differently now; what was always allowed is asked again",
                tool.native()
            )),
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|tool| find(now, tool).is_none());
    notes.extend(gone.map(|tool| format!("the tool `{}` is gone", tool.native())));
    notes
}
