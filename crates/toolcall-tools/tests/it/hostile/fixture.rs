//! A temporary directory with canaries outside of its root, and calls of the real tools on it.
//! It records what is reported and what is on the disk; it asserts nothing.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use toolcall::{
    Answer, CallIds, Engine, Event, Outcome, Policy, Question, Registry, ToolCall, ToolRequest,
};
use toolcall_testkit::dir::TestDir;
use toolcall_testkit::tools::text_of;
use toolcall_tools::command::Supervisor;
use toolcall_tools::{Toolset, ToolsetConfig};

/// The content of files outside, which no model and no user may get.
pub(crate) const CANARY: &str = "CANARY-that-nobody-may-read";

/// A root with more files outside, and a state directory.
pub(crate) struct HostileFixture {
    fixture: crate::ground::Ground,
    state: TestDir,
}

impl std::ops::Deref for HostileFixture {
    type Target = crate::ground::Ground;

    fn deref(&self) -> &Self::Target {
        &self.fixture
    }
}

/// The outcome of a call, with every question and event.
pub(crate) struct CallRecord {
    pub(crate) outcome: Outcome,
    pub(crate) questions: Vec<Arc<Question>>,
    events: Vec<String>,
}

impl HostileFixture {
    pub(crate) fn new() -> Self {
        let fixture = Self {
            fixture: crate::ground::Ground::new(),
            state: TestDir::create(),
        };
        for dir in [
            "/etc/cron.d",
            "/home/u/.config",
            "/w/other/sub",
            "/w/elsewhere",
        ] {
            fixture.mkdir(dir);
        }
        for file in ["/etc/passwd", "/etc/hostname", "/w/outside/canary"] {
            fs::write(fixture.at(file), CANARY).unwrap();
        }
        fixture
    }

    pub(crate) fn toolset(&self, roots: &[PathBuf]) -> Toolset {
        let mut settings = ToolsetConfig::new(roots.to_vec(), self.state.path());
        let supervisor = Supervisor::at(env!("CARGO_BIN_EXE_toolcall-supervisor"));
        settings.supervisor = Some(supervisor);
        Toolset::open(settings).unwrap()
    }

    /// Makes a call with the tools of this root. Every question is answered with yes.
    pub(crate) async fn call(&self, policy: impl Policy, tool: &str, input: Value) -> CallRecord {
        let toolset = self.toolset(&[self.root()]);
        self.call_with(&toolset, policy, tool, input).await
    }

    pub(crate) async fn call_with(
        &self,
        toolset: &Toolset,
        policy: impl Policy,
        tool: &str,
        input: Value,
    ) -> CallRecord {
        let mut tools = Registry::new();
        toolset.add_to(&mut tools).unwrap();
        let (questions, events) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
        let (asked, happened) = (Arc::clone(&questions), Arc::clone(&events));
        let approver = move |question: Arc<Question>| {
            let asked: &Mutex<Vec<Arc<Question>>> = &asked;
            asked.lock().unwrap().push(question);
            std::future::ready(Answer::AllowOnce)
        };
        let reader = move |call: &ToolCall, event: &Event| {
            let happened: &Mutex<Vec<String>> = &happened;
            let mut happened = happened.lock().unwrap();
            happened.push(format!("{event:?} {}", call.title()));
        };
        let engine = Engine::builder(tools)
            .cwd(self.root())
            .host(toolset.host())
            .policy(policy)
            .approver(approver)
            .ids(CallIds::new("call"))
            .reader(reader)
            .build();
        let outcome = engine.run(ToolRequest::new(tool, input)).await;
        let questions = questions.lock().unwrap().clone();
        let events = events.lock().unwrap().clone();
        CallRecord {
            outcome,
            questions,
            events,
        }
    }
}

impl CallRecord {
    pub(crate) fn is_completed(&self) -> bool {
        self.outcome.ending().is_success()
    }

    /// Returns why the call failed, or an empty text.
    pub(crate) fn reason(&self) -> String {
        self.outcome.ending().reason().unwrap_or_default()
    }

    /// Returns the text that the model gets.
    pub(crate) fn for_model(&self) -> String {
        text_of(&self.outcome.for_model().content)
    }

    /// Returns everything that model, user and client get of the call.
    pub(crate) fn everything(&self) -> String {
        let (model, call) = (self.for_model(), &self.outcome.call);
        let events = self.events.join("\n");
        format!("{model}\n{call:?}\n{:?}\n{events}", self.questions)
    }

    /// Returns the title, and the lines that the user is shown with a question.
    pub(crate) fn lines_for_people(&self) -> Vec<String> {
        let mut lines = vec![self.outcome.call.title().to_owned()];
        for question in &self.questions {
            let intent = &question.subject.intent;
            lines.push(intent.title.to_string());
            lines.extend(question.offers.iter().map(|rule| rule.text.to_string()));
        }
        lines
    }
}
