//! A project in a temporary directory, with the built-in tools, and an agent that calls them.
//! It decides nothing: the policy asks, and the client allows.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcall::{
    AskDangerous, CallIds, Engine, EngineBuilder, Event, Registry, SessionContext, SessionId,
    ToolCall, ToolRequest,
};
use toolcall_testkit::client::allow_once;
use toolcall_testkit::dir::TestDir;
use toolcall_testkit::http::{Reply, Server, answer, ok};
use toolcall_tools::command::Supervisor;
use toolcall_tools::web::{FetchSettings, SearchSettings};
use toolcall_tools::{Toolset, ToolsetConfig};

use crate::PROGRAM;
use crate::tools::cases::CallCase;
use crate::tools::transcript::CallRun;
use crate::wire::{SESSION, Wire};

/// The files of the project.
const FILES: &[(&str, &str)] = &[
    ("project/README.md", "# Tea\n\nHow to make tea.\n"),
    (
        "project/src/main.rs",
        "fn main() {\n    // TODO: boil water\n}\n",
    ),
    ("project/src/lib.rs", "//! Tea.\n"),
    ("project/notes/old.txt", "one\ntwo\nthree\n"),
];

/// A project and its tools.
pub(crate) struct ToolTestProject {
    dir: TestDir,
    toolset: Arc<Toolset>,
    site: Server,
}

impl ToolTestProject {
    pub(crate) async fn open() -> Self {
        let dir = TestDir::with(FILES);
        let site = Server::start(page).await;
        let mut settings = ToolsetConfig::new(vec![dir.at("project")], dir.at("state"));
        settings.supervisor = Some(Supervisor::at(PROGRAM));
        settings.fetch = FetchSettings {
            private: vec![format!("127.0.0.1:{}", site.port())],
            ..FetchSettings::default()
        };
        let endpoint = format!("http://127.0.0.1:{}/search", site.port());
        settings.search = Some(SearchSettings::SearXng { endpoint });
        let toolset = Arc::new(Toolset::open(settings).unwrap());
        Self { dir, toolset, site }
    }

    pub(crate) fn registry(&self) -> Registry {
        let mut tools = Registry::new();
        self.toolset.add_to(&mut tools).unwrap();
        tools
    }

    fn project(&self) -> PathBuf {
        self.dir.at("project")
    }

    /// Makes the calls of a case in a session of its own.
    pub(crate) async fn play(&self, case: &CallCase) -> CallRun {
        let titles = Arc::new(Mutex::new(Vec::new()));
        let before = case.before.iter().map(|(tool, input)| (*tool, input));
        let calls = before.chain([(case.tool, &case.input)]);
        let calls = calls.map(|(tool, input)| ToolRequest::new(tool, self.with_port(input)));
        let (engine, cwd) = (self.engine(titles.clone()), self.project());
        let wire = Wire::record(engine, calls, &cwd, json!({}), allow_once).await;
        self.toolset.close().await;
        let announced = titles.lock().unwrap().clone();
        CallRun::new(wire, announced)
    }

    /// Returns an engine that records the titles of announcements: on the wire an announcement may be
    /// merged with the later title.
    fn engine(&self, titles: Arc<Mutex<Vec<String>>>) -> EngineBuilder {
        let record = move |call: &ToolCall, event: &Event| {
            if event.name() == "announced" {
                titles.lock().unwrap().push(call.title().to_owned());
            }
        };
        Engine::builder(self.registry())
            .setting(SessionContext::new(SessionId::new(SESSION), self.project()))
            .host(self.toolset.host())
            .policy(AskDangerous)
            .ids(CallIds::new("call"))
            .reader(record)
    }

    /// Returns an input with the port of the test server.
    fn with_port(&self, input: &Value) -> Value {
        let port = self.site.port().to_string();
        serde_json::from_str(&input.to_string().replace("PORT", &port)).unwrap()
    }

    /// Replaces what differs between runs.
    pub(crate) fn steady(&self, text: &str) -> String {
        let text = self.dir.steady(text, "");
        let text = text.replace(&format!(":{}", self.site.port()), ":PORT");
        without_trash_names(&text)
    }
}

fn without_trash_names(text: &str) -> String {
    let mut pieces = text.split("/state/deleted/");
    let mut steady = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(['`', '"']).unwrap_or(piece.len());
        steady += "/state/deleted/NAME";
        steady += &piece[end..];
    }
    steady
}

/// Answers with a page, a search result, or an error.
fn page(request: &str) -> Reply {
    let path = request.split(' ').nth(1).unwrap_or_default();
    match path.split_once('?') {
        None if path == "/page" => ok(
            "text/html",
            "<h1>Tea</h1><p>Boil <a href='/water'>water</a>.</p>",
        ),
        Some(("/search", query)) if query.contains("q=tea") => ok(
            "application/json",
            r#"{"results": [{"title": "Tea", "url": "https://tea.example/", "content": "Boil water."}]}"#,
        ),
        Some(("/search", _)) => answer("500 Broken", "content-type: text/plain\r\n", "broken"),
        None | Some(_) => answer(
            "404 Not Found",
            "content-type: text/plain\r\n",
            "there is nothing here",
        ),
    }
}
