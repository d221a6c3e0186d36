//! Runs one call of one tool through an engine and renders it as text.
//! It asserts nothing itself.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use toolcall::*;
use toolcall_tools::tools::Fetch;
use toolcall_tools::web::{FetchSettings, Lookup};

use toolcall_testkit::http::Server;

/// An engine that allows everything, and the events of its calls.
pub(crate) struct TestEngine {
    pub(crate) engine: Engine,
    events: Arc<Mutex<Vec<&'static str>>>,
}

impl TestEngine {
    pub(crate) fn of(tool: impl Tool) -> Self {
        Self::under(tool, AllowAll)
    }

    pub(crate) fn under(tool: impl Tool, policy: impl Policy) -> Self {
        let mut registry = Registry::new();
        registry.add(tool).unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = events.clone();
        let engine = Engine::builder(registry)
            .ids(CallIds::new("c"))
            .policy(policy)
            .reader(move |_: &ToolCall, event: &Event| log.lock().unwrap().push(event.name()))
            .cwd("/w")
            .build();
        Self { engine, events }
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Outcome {
        self.engine.run(ToolRequest::new(tool, input)).await
    }

    /// Runs a call and returns everything that the user, the model or a program sees of it.
    pub(crate) async fn transcript(&self, tool: &str, input: Value) -> String {
        let outcome = self.call(tool, input).await;
        let call = &outcome.call;
        let events = self.events.lock().unwrap().join(", ");
        let mut lines = vec![
            events,
            format!("{}: {}", call.kind().as_str(), call.title()),
        ];
        if let Some(prepared) = call.prepared_as() {
            lines.push(format!("touches {:?}", prepared.intent.touches));
        }
        lines.extend(
            call.preview()
                .iter()
                .map(|shown| format!("preview {}", content_text(shown))),
        );
        lines.push(ending(&outcome));
        lines.extend(outcome.result().content.iter().map(content_text));
        lines.extend(
            outcome
                .result()
                .structured
                .iter()
                .map(|value| value.to_string()),
        );
        lines.join("\n")
    }
}

/// Returns how a call ended, and its content.
pub(crate) fn shown(outcome: &Outcome) -> String {
    let content = outcome.result().content.iter().map(content_text);
    let lines: Vec<String> = [ending(outcome)].into_iter().chain(content).collect();
    lines.join("\n")
}

fn ending(outcome: &Outcome) -> String {
    let ending = outcome.ending();
    match ending.reason() {
        Some(reason) => format!("{}: {reason}", ending.name()),
        None => ending.name().to_owned(),
    }
}

fn content_text(content: &Content) -> String {
    match content {
        Content::Text(text) => text.to_string(),
        Content::Image(blob) => format!("image {} {}", blob.mime, blob.base64),
        Content::Link(link) => format!("link {} {:?} {:?}", link.uri, link.title, link.description),
        Content::Audio(_) | Content::Resource(_) | Content::Edit(_) | Content::Terminal(_) => {
            "something else".to_owned()
        }
    }
}

/// Replaces the server's port in a text, because it differs from run to run.
pub(crate) fn steady(text: &str, server: &Server) -> String {
    text.replace(&format!(":{}", server.port()), ":PORT")
}

/// A lookup that returns one list after the other, and the last one from then on.
pub(crate) struct ScriptedLookup {
    answers: Vec<Vec<IpAddr>>,
    lookups: Arc<AtomicUsize>,
}

impl ScriptedLookup {
    pub(crate) fn new(answers: &[&[&str]]) -> Self {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        Self {
            answers: answers.iter().map(parse).collect(),
            lookups: Arc::default(),
        }
    }

    pub(crate) fn counter(&self) -> Arc<AtomicUsize> {
        self.lookups.clone()
    }
}

impl Lookup for ScriptedLookup {
    fn lookup<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let at = self
            .lookups
            .fetch_add(1, Ordering::Relaxed)
            .min(self.answers.len() - 1);
        Box::pin(std::future::ready(Ok(self.answers[at].clone())))
    }
}

/// `site.example` on this machine, allowed for the port of the server.
pub(crate) fn site(server: &Server, settings: FetchSettings) -> TestEngine {
    let settings = FetchSettings {
        private: vec![format!("site.example:{}", server.port())],
        ..settings
    };
    TestEngine::of(Fetch::with_lookup(
        settings,
        ScriptedLookup::new(&[&["127.0.0.1"]]),
    ))
}

/// Returns the URL of a path at `site.example`.
pub(crate) fn at(server: &Server, path: &str) -> String {
    format!("http://site.example:{}{path}", server.port())
}
