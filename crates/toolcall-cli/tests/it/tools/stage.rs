//! A project in a temporary folder, the built-in tools on it, and an agent that calls them.
//! It decides nothing: the policy asks, and the client allows.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{duplex, split};
use toolcall::{
    AskDangerous, Counted, Engine, EngineBuilder, Event, Registry, SessionId, Setting, ToolCall,
    ToolRequest,
};
use toolcall_acp::transport::{Limits, connect};
use toolcall_acp::v1::{self, Prompt, StopReason, serve};
use toolcall_tools::command::Supervisor;
use toolcall_tools::web::{FetchSettings, SearchSettings};
use toolcall_tools::{Kit, KitSettings};

use crate::tools::client::{Client, SESSION};
use crate::tools::rows::Row;
use crate::tools::site::Site;
use crate::tools::story::Played;

const PIPE: usize = 64 * 1024;

/// What lies in the project.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# Tea\n\nHow to make tea.\n"),
    ("src/main.rs", "fn main() {\n    // TODO: boil water\n}\n"),
    ("src/lib.rs", "//! Tea.\n"),
    ("notes/old.txt", "one\ntwo\nthree\n"),
];

/// A project and its tools.
pub(crate) struct Stage {
    temp: TempDir,
    kit: Arc<Kit>,
    site: Site,
}

impl Stage {
    pub(crate) async fn open() -> Self {
        let temp = TempDir::new().unwrap();
        let site = Site::open().await;
        let base = temp.path().canonicalize().unwrap();
        for (path, text) in FILES {
            let path = base.join("project").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut settings = KitSettings::new(vec![base.join("project")], base.join("state"));
        settings.supervisor = Some(Supervisor::at(env!("CARGO_BIN_EXE_toolcall")));
        settings.fetch = FetchSettings {
            private: vec![format!("127.0.0.1:{}", site.port)],
            ..FetchSettings::default()
        };
        let endpoint = format!("http://127.0.0.1:{}/search", site.port);
        settings.search = Some(SearchSettings::SearXng { endpoint });
        let kit = Arc::new(Kit::open(settings).unwrap());
        Self { temp, kit, site }
    }

    pub(crate) fn registry(&self) -> Registry {
        let mut tools = Registry::new();
        self.kit.add_to(&mut tools).unwrap();
        tools
    }

    fn project(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("project")
    }

    /// Plays a row in a session of its own.
    pub(crate) async fn play(&self, row: &Row) -> Played {
        let titles = Arc::new(Mutex::new(Vec::new()));
        let engine = Mutex::new(Some(self.engine(titles.clone())));
        let open = move |_: Setting| engine.lock().unwrap().take().expect("there is one session");
        let before = row.before.iter().map(|(tool, input)| (*tool, input));
        let calls = before.chain([(row.tool, &row.input)]);
        let calls = calls.map(|(tool, input)| ToolRequest::new(tool, self.real(input)));
        let calls: Arc<[ToolRequest]> = calls.collect();
        let answer = move |prompt: Arc<Prompt>, _| one_after_the_other(prompt, calls.clone());
        let (near, far) = duplex(PIPE);
        let (reader, writer) = split(near);
        let (peer, transport) = connect(reader, writer, Limits::default());
        let agent = tokio::spawn(serve(v1::Client::new(peer), transport, open, answer));
        let recorded = Client::new(far).prompt(&self.project()).await;
        agent.await.unwrap().unwrap();
        self.kit.close().await;
        let announced = titles.lock().unwrap().clone();
        Played::new(recorded, announced)
    }

    /// What is told at once is merged with what the tool states, if that comes soon: so the titles
    /// of announcements are noted here.
    fn engine(&self, titles: Arc<Mutex<Vec<String>>>) -> EngineBuilder {
        let note = move |call: &ToolCall, event: &Event| {
            if event.name() == "announced" {
                titles.lock().unwrap().push(call.title().to_owned());
            }
        };
        Engine::builder(self.registry())
            .setting(Setting::new(SessionId::new(SESSION), self.project()))
            .host(self.kit.host())
            .policy(AskDangerous)
            .ids(Counted::new("call"))
            .reader(note)
    }

    /// An input of the table, with the port of this stage's site.
    fn real(&self, input: &Value) -> Value {
        let port = self.site.port.to_string();
        serde_json::from_str(&input.to_string().replace("PORT", &port)).unwrap()
    }

    /// A text without what differs from stage to stage.
    pub(crate) fn steady(&self, text: &str) -> String {
        let base = self.temp.path().canonicalize().unwrap();
        let text = text.replace(base.to_str().unwrap(), "");
        let text = text.replace(&format!(":{}", self.site.port), ":PORT");
        without_names_of_kept_things(&text)
    }
}

fn without_names_of_kept_things(text: &str) -> String {
    let mut pieces = text.split("/state/deleted/");
    let mut steady = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(['`', '"']).unwrap_or(piece.len());
        steady += "/state/deleted/NAME";
        steady += &piece[end..];
    }
    steady
}

async fn one_after_the_other(prompt: Arc<Prompt>, calls: Arc<[ToolRequest]>) -> StopReason {
    for call in calls.iter() {
        prompt.turn().call(call.clone()).await.await;
    }
    StopReason::EndTurn
}
