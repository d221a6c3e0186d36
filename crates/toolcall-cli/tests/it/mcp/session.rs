//! A session with a directory, a repository, the built-in tools and five MCP servers, and an agent that calls them.
//! It decides nothing: the policy asks, and the client allows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolcall::{
    AskDangerous, CallIds, Engine, Origin, Registry, SessionContext, SessionId, SharedRegistry,
    ToolRequest,
};
use toolcall_testkit::client::{allow_once, notification, response};
use toolcall_testkit::dir::TestDir;
use toolcall_tools::mcp::{Program, ServerSettings, ServerState, Servers};
use toolcall_tools::{Toolset, ToolsetConfig};

use crate::mcp::calls::McpCall;
use crate::wire::{SESSION, Wire};

/// The beginning of a tiny image.
const DOT: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

pub(crate) struct McpTestSession {
    dir: TestDir,
    toolset: Toolset,
    registry: SharedRegistry,
    servers: Servers,
}

impl McpTestSession {
    /// Starts the servers and waits for all their tools.
    pub(crate) async fn open(servers_dir: &Path) -> Self {
        let dir = TestDir::create();
        let root = dir.at("project");
        create_files(&root);
        let mut settings = ToolsetConfig::new(vec![root.clone()], dir.at("state"));
        settings.servers = server_settings(servers_dir, &root);
        let toolset = Toolset::open(settings).unwrap();
        let mut built_in = Registry::new();
        toolset.add_to(&mut built_in).unwrap();
        let registry = SharedRegistry::new(built_in);
        let servers = toolset.servers(&registry).unwrap();
        let mut changes = registry.changes();
        servers.start();
        servers.settled().await;
        for status in servers.status() {
            assert_eq!(status.state, ServerState::Ready, "{status:?}");
        }
        // The server adds this tool once it has asked for the roots.
        while registry.snapshot().definition("get-roots-list").is_none() {
            changes.changed().await.unwrap();
        }
        Self {
            dir,
            toolset,
            registry,
            servers,
        }
    }

    fn root(&self) -> PathBuf {
        self.dir.at("project")
    }

    pub(crate) fn tools_of_servers(&self) -> BTreeSet<String> {
        let registry = self.registry.snapshot();
        let tools = registry.definitions();
        let tools = tools.filter(|tool| matches!(tool.origin, Origin::Mcp(_)));
        tools.map(|tool| tool.name.to_string()).collect()
    }

    /// Makes the calls one after the other in one prompt.
    pub(crate) async fn play(&self, calls: &[McpCall]) -> Wire {
        let root = self.root().display().to_string();
        let request = |call: &McpCall| {
            let input: Value = serde_json::from_str(&call.input.replace("ROOT", &root)).unwrap();
            ToolRequest::new(call.tool, input)
        };
        let engine = Engine::builder(self.registry.clone())
            .setting(SessionContext::new(SessionId::new(SESSION), self.root()))
            .host(self.toolset.host())
            .policy(AskDangerous)
            .ids(CallIds::new("call"));
        let forms = json!({"elicitation": {"form": {}}});
        Wire::record(
            engine,
            calls.iter().map(request),
            &self.root(),
            forms,
            reply,
        )
        .await
    }

    /// Replaces what differs from run to run.
    pub(crate) fn steady(&self, text: &str) -> String {
        text.replace(self.root().to_str().unwrap(), "ROOT")
    }

    pub(crate) async fn close(&self) {
        self.servers.close().await;
        self.toolset.close().await;
    }
}

fn create_files(root: &Path) {
    let repo = root.join("repo");
    fs::create_dir_all(&repo).unwrap();
    fs::write(root.join("dot.png"), DOT).unwrap();
    let git = |args: &[&str]| {
        let author = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let git = Command::new("git")
            .current_dir(&repo)
            .args(author)
            .args(args)
            .output();
        let git = git.expect("git is there");
        assert!(git.status.success(), "git {args:?}: {git:?}");
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["config", "user.name", "t"]);
    git(&["config", "user.email", "t@example.com"]);
    fs::write(repo.join("old.txt"), "old\n").unwrap();
    git(&["add", "old.txt"]);
    git(&["commit", "--quiet", "-m", "Begin"]);
    fs::write(repo.join("new.txt"), "tea\n").unwrap();
}

fn server_settings(servers_dir: &Path, root: &Path) -> Vec<ServerSettings> {
    let node = |name: &str| {
        servers_dir
            .join("node_modules/.bin")
            .join(name)
            .display()
            .to_string()
    };
    let python = |name: &str| {
        servers_dir
            .join("python/bin")
            .join(name)
            .display()
            .to_string()
    };
    let root = root.display().to_string();
    let memory = format!("{root}/memory.jsonl");
    let server = |name: &str, program: Program| ServerSettings::new(name, program);
    vec![
        server(
            "everything",
            Program::new(node("mcp-server-everything"), [], []),
        ),
        server(
            "files",
            Program::new(node("mcp-server-filesystem"), [root.as_str()], []),
        ),
        server(
            "memory",
            Program::new(
                node("mcp-server-memory"),
                [],
                [("MEMORY_FILE_PATH", memory.as_str())],
            ),
        ),
        server("git", Program::new(python("mcp-server-git"), [], [])),
        server("time", Program::new(python("mcp-server-time"), [], [])),
    ]
}

/// Allows once; fills in a name; cancels a call of six thousand steps as soon as it made one.
fn reply(message: &Value) -> Vec<Value> {
    if message["method"] == "elicitation/create" {
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        return vec![response(message, answer)];
    }
    let progress = &message["params"]["update"]["_meta"]["toolcall/progress"];
    if progress["total"] == 6000.0 || progress["total"] == 6000 {
        return vec![notification(
            "session/cancel",
            json!({"sessionId": SESSION}),
        )];
    }
    allow_once(message)
}
