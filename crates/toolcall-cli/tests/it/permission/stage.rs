//! A home and a project in a temporary folder, the real tools and rules on it, and an agent that makes one call.
//! It decides nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tempfile::TempDir;
use tokio::io::{duplex, split};
use toolcall::{
    Counted, CustomTool, Definition, Engine, EngineBuilder, Origin, Registry, SessionId, Setting,
    ToolRequest,
};
use toolcall_acp::transport::{Limits, connect};
use toolcall_acp::v1::{self, Prompt, StopReason, serve};
use toolcall_policy::{Book, BookSettings, Places};
use toolcall_tools::command::Supervisor;
use toolcall_tools::{Kit, KitSettings};

use crate::permission::client::{Client, Heard, SESSION};

const PIPE: usize = 64 * 1024;

/// A project and its tools.
pub(crate) struct Stage {
    temp: TempDir,
    kit: Kit,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with_policy("")
    }

    pub(crate) fn with_policy(policy: &str) -> Self {
        let temp = TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for (name, text) in [
            ("project/there.txt", "one\n"),
            ("config/policy.toml", policy),
        ] {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let mut settings = KitSettings::new(vec![base.join("project")], base.join("state"));
        settings.supervisor = Some(Supervisor::at(env!("CARGO_BIN_EXE_toolcall")));
        let kit = Kit::open(settings).unwrap();
        Self { temp, kit }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.base().join("project")
    }

    fn base(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.project().join(name).exists()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn executable(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn engine(&self) -> EngineBuilder {
        let mut tools = Registry::new();
        self.kit.add_to(&mut tools).unwrap();
        tools.add_any(Arc::new(tool_of_a_server())).unwrap();
        let book = Book::open(BookSettings {
            places: Places {
                config: self.base().join("config"),
                state: self.base().join("state"),
            },
            roots: vec![self.project()],
            home: None,
            layers: Vec::new(),
        });
        Engine::builder(tools)
            .setting(Setting::new(SessionId::new(SESSION), self.project()))
            .host(self.kit.host())
            .rulebook(Arc::new(book))
            .ids(Counted::new("call"))
    }

    /// Makes one call in a session over the wire.
    pub(crate) async fn play(&self, request: ToolRequest, client: Client) -> Heard {
        let engine = Mutex::new(Some(self.engine()));
        let open = move |_: Setting| engine.lock().unwrap().take().expect("there is one session");
        let answer = move |prompt: Arc<Prompt>, _| {
            let request = request.clone();
            async move {
                prompt.turn().call(request).await.await;
                StopReason::EndTurn
            }
        };
        let (near, far) = duplex(PIPE);
        let (reader, writer) = split(near);
        let (peer, transport) = connect(reader, writer, Limits::default());
        let agent = tokio::spawn(serve(v1::Client::new(peer), transport, open, answer));
        let heard = client.prompt(far, &self.project()).await;
        agent.await.unwrap().unwrap();
        self.kit.close().await;
        heard
    }
}

fn tool_of_a_server() -> CustomTool {
    let mut definition = Definition::new("send", "Sends a letter", json!({"type": "object"}));
    definition.origin = Origin::Mcp("s".into());
    CustomTool::new(definition, |_, _| async { Ok("sent") })
}
