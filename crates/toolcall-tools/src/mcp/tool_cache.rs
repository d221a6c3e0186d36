//! The tools of all servers: gives them unique names and keeps the registry in step with them.
//! It never changes a built-in tool. A tool whose definition changes is registered anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use toolcall::{Registry, SharedRegistry};

use super::listing::OfferedTool;
use super::names;
use super::server::McpServer;
use super::tool::McpTool;

/// The tools of all servers.
pub(super) struct ToolCache {
    registry: SharedRegistry,
    state: Mutex<ToolCacheState>,
}

#[derive(Default)]
struct ToolCacheState {
    /// The tools of each server, in the order of the servers.
    offered: BTreeMap<usize, (Arc<McpServer>, Vec<Arc<OfferedTool>>)>,
    /// The registered tools, by name.
    registered: BTreeMap<Arc<str>, RegisteredTool>,
}

/// A tool that is in the registry.
struct RegisteredTool {
    server: usize,
    offered: Arc<OfferedTool>,
}

impl ToolCache {
    pub(super) fn new(registry: SharedRegistry) -> Self {
        Self {
            registry,
            state: Mutex::default(),
        }
    }

    /// Replaces the tools of a server and updates the registry. Returns notes about what changed.
    pub(super) fn put(&self, server: &Arc<McpServer>, tools: Vec<OfferedTool>) -> Vec<String> {
        let tools: Vec<_> = tools.into_iter().map(Arc::new).collect();
        let mut state = self.state.lock();
        let before = state
            .offered
            .insert(server.order(), (server.clone(), tools.clone()));
        let mut notes = match before {
            Some((_, before)) => differences(&before, &tools),
            None => Vec::new(),
        };
        notes.extend(
            self.registry
                .change(|registry| state.update_registry(registry)),
        );
        notes
    }

    /// Whether a server still offers exactly this tool.
    pub(super) fn offers(&self, server: usize, tool: &OfferedTool) -> bool {
        let state = self.state.lock();
        let offered = state.offered.get(&server).map(|(_, offered)| offered);
        let is_same = |other: &Arc<OfferedTool>| {
            other.native() == tool.native() && other.digest == tool.digest
        };
        offered.into_iter().flatten().any(is_same)
    }

    /// Returns the names of a server's tools in the registry.
    pub(super) fn names(&self, server: usize) -> Vec<Arc<str>> {
        let state = self.state.lock();
        let registered = state.registered.iter();
        registered
            .filter(|(_, registered)| registered.server == server)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Removes the tools of a server.
    pub(super) fn withdraw(&self, server: usize) {
        let mut state = self.state.lock();
        state.offered.remove(&server);
        self.registry
            .change(|registry| state.update_registry(registry));
    }

    /// Removes the tools of all servers.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock();
        state.offered.clear();
        self.registry
            .change(|registry| state.update_registry(registry));
    }
}

impl ToolCacheState {
    /// Makes the registry contain exactly the offered tools, under unique names.
    fn update_registry(&mut self, registry: &mut Registry) -> Vec<String> {
        let offered = self.offered.values();
        let all: Vec<(Arc<McpServer>, Arc<OfferedTool>)> = offered
            .flat_map(|(server, tools)| tools.iter().map(|tool| (server.clone(), tool.clone())))
            .collect();
        let pairs: Vec<(&str, &str)> = all
            .iter()
            .map(|(server, tool)| (&**server.name(), &**tool.native()))
            .collect();
        let is_built_in =
            |name: &str| registry.definition(name).is_some() && !self.registered.contains_key(name);
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
        wanted: &BTreeMap<Arc<str>, (Arc<McpServer>, Arc<OfferedTool>)>,
    ) {
        self.registered.retain(|name, registered| {
            let stays = wanted.get(name).is_some_and(|(server, tool)| {
                server.order() == registered.server && **tool == *registered.offered
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
        wanted: BTreeMap<Arc<str>, (Arc<McpServer>, Arc<OfferedTool>)>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, (server, offered)) in wanted {
            if self.registered.contains_key(&name) {
                continue;
            }
            let order = server.order();
            let tool = McpTool::new(name.clone(), server, offered.clone());
            match registry.add_any(Arc::new(tool)) {
                Ok(_) => {
                    let server = order;
                    self.registered
                        .insert(name, RegisteredTool { server, offered });
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

/// Returns notes about the differences between two lists of a server.
fn differences(before: &[Arc<OfferedTool>], now: &[Arc<OfferedTool>]) -> Vec<String> {
    let find = |list: &[Arc<OfferedTool>], tool: &OfferedTool| {
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
