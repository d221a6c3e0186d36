//! A project in a temporary directory, with real tools and rules, and an agent that makes one call.
//! It checks nothing.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{
    CallIds, CustomTool, Engine, EngineBuilder, Origin, Registry, SessionContext, SessionId,
    ToolRequest,
};
use toolcall_policy::{PolicyStore, PolicyStoreConfig, UserDirs};
use toolcall_testkit::client::asks_permission;
use toolcall_testkit::dir::{TestDir, set_mode};
use toolcall_testkit::tools::definition;
use toolcall_tools::command::Supervisor;
use toolcall_tools::{Toolset, ToolsetConfig};

use crate::PROGRAM;
use crate::wire::{SESSION, Wire};

/// A project and its tools.
pub(crate) struct PolicyTestProject {
    dir: TestDir,
    toolset: Toolset,
}

impl PolicyTestProject {
    pub(crate) fn new() -> Self {
        Self::with_policy("")
    }

    pub(crate) fn with_policy(policy: &str) -> Self {
        let dir = TestDir::with(&[("project/there.txt", "one\n")]);
        dir.write_private("config/policy.toml", policy);
        let mut settings = ToolsetConfig::new(vec![dir.at("project")], dir.at("state"));
        settings.supervisor = Some(Supervisor::at(PROGRAM));
        let toolset = Toolset::open(settings).unwrap();
        Self { dir, toolset }
    }

    fn project(&self) -> PathBuf {
        self.dir.at("project")
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.project().join(name).exists()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        self.dir.write(&format!("project/{name}"), text)
    }

    pub(crate) fn executable(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name, text);
        set_mode(&path, 0o755);
        path
    }

    pub(crate) fn engine(&self) -> EngineBuilder {
        let mut tools = Registry::new();
        self.toolset.add_to(&mut tools).unwrap();
        tools.add_any(Arc::new(tool_of_a_server())).unwrap();
        let store = PolicyStore::open(PolicyStoreConfig {
            places: UserDirs {
                config: self.dir.at("config"),
                state: self.dir.at("state"),
            },
            roots: vec![self.project()],
            home: None,
            layers: Vec::new(),
        });
        Engine::builder(tools)
            .setting(SessionContext::new(SessionId::new(SESSION), self.project()))
            .host(self.toolset.host())
            .rulebook(Arc::new(store))
            .ids(CallIds::new("call"))
    }

    /// Makes one call over the wire; `answer` answers permission requests.
    pub(crate) async fn play(
        &self,
        request: ToolRequest,
        answer: impl Fn(&Value) -> Vec<Value> + Send + 'static,
    ) -> Wire {
        let replies = move |message: &Value| {
            if asks_permission(message) {
                answer(message)
            } else {
                Vec::new()
            }
        };
        let (engine, cwd) = (self.engine(), self.project());
        let wire = Wire::record(engine, [request], &cwd, json!({}), replies).await;
        self.toolset.close().await;
        wire
    }
}

fn tool_of_a_server() -> CustomTool {
    let mut definition = definition("send");
    definition.origin = Origin::Mcp("s".into());
    CustomTool::new(definition, |_, _| async { Ok("sent") })
}
