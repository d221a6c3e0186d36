//! A registry that can change while engines use it, as servers add and remove tools.
//! A snapshot never changes, and a call keeps the tool that it found.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::registry::{Entry, Registry};

/// A shared registry that can be changed at any time. Cheap to clone.
#[derive(Clone)]
pub struct SharedRegistry(Arc<SharedState>);

struct SharedState {
    current: Mutex<Arc<Registry>>,
    generation: watch::Sender<u64>,
}

impl SharedRegistry {
    /// Creates a shared registry with these tools.
    pub fn new(registry: impl Into<Arc<Registry>>) -> Self {
        Self(Arc::new(SharedState {
            current: Mutex::new(registry.into()),
            generation: watch::Sender::new(0),
        }))
    }

    /// Returns the tools as they are now.
    pub fn snapshot(&self) -> Arc<Registry> {
        self.0.current.lock().clone()
    }

    /// Changes the tools in one step. Calls that have found their tool keep it.
    pub fn change<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> T {
        let mut current = self.0.current.lock();
        let result = change(Arc::make_mut(&mut current));
        drop(current);
        self.0.generation.send_modify(|generation| *generation += 1);
        result
    }

    /// Returns a counter that changes whenever the tools do.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.generation.subscribe()
    }

    /// Returns the tool of this name or alias.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Entry>> {
        self.0.current.lock().find(name).cloned()
    }
}

impl From<Registry> for SharedRegistry {
    fn from(registry: Registry) -> Self {
        Self::new(registry)
    }
}

impl From<Arc<Registry>> for SharedRegistry {
    fn from(registry: Arc<Registry>) -> Self {
        Self::new(registry)
    }
}
