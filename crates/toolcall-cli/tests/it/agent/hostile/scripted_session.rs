//! A session with an agent that plays a script, and the outcome of its calls.
//! It checks nothing but the wire.

use std::process::Command;

use serde_json::{Value, json};
use toolcall_testkit::client::{Side, asks_permission, prompt};

use crate::agent::client::{
    CancelTrigger, ClientBehavior, ClientFeatures, QuestionAnswer, TestClient,
};
use crate::agent::home::AgentHome;
use crate::agent::linter::{call_statuses, lint_recording};
use crate::recorder::{RecordedLine, Recorder, Recording};

pub(super) const POLICY: &str = "home/config/toolcall/policy.toml";

/// Answers no question by itself.
pub(super) const SILENT: ClientBehavior = ClientBehavior {
    answer: QuestionAnswer::Silence,
    cancel: CancelTrigger::Never,
};

/// An agent that plays a script.
pub(super) struct ScriptedSession {
    pub(super) home: AgentHome,
    pub(super) client: TestClient,
}

/// The outcome of a turn with one call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TurnOutcome {
    /// The user was asked.
    Asked,
    /// Refused without a question.
    Refused,
    /// It ran without a question.
    Ran,
}

/// Returns a turn that makes the call of a case.
pub(super) fn turn_of(case: &Value) -> Value {
    turn(
        case["input"]["tool"].as_str().unwrap(),
        case["input"]["args"].clone(),
    )
}

/// Returns a turn that makes one call.
pub(super) fn turn(tool: &str, input: Value) -> Value {
    json!([{"call": {"tool": tool, "input": input}}])
}

pub(super) fn running(command: &str) -> Value {
    turn("run_command", json!({"command": command}))
}

impl ScriptedSession {
    /// Opens a session in a new home with these turns, in mode `ask`.
    pub(super) fn open(behavior: ClientBehavior, turns: &[Value]) -> Self {
        Self::on(AgentHome::new(), behavior, turns)
    }

    /// Opens a session in this home.
    pub(super) fn on(home: AgentHome, behavior: ClientBehavior, turns: &[Value]) -> Self {
        Self::with(home, behavior, turns, |_| {})
    }

    /// Opens a session with an agent whose command is changed by `differ`.
    pub(super) fn with(
        home: AgentHome,
        behavior: ClientBehavior,
        turns: &[Value],
        differ: impl FnOnce(&mut Command),
    ) -> Self {
        // JSON is YAML.
        let script = home.write("script.yaml", &json!(turns).to_string());
        let model = format!("script:{}", script.display());
        let mut agent = home.agent(&["--model", &model]);
        differ(&mut agent);
        let mut client =
            TestClient::initialize(Recorder::start(agent), ClientFeatures::Nothing, behavior);
        client.open(&home.project(), json!([]));
        Self { home, client }
    }

    /// Prompts, and waits for the question. Returns the id of the prompt, and the question.
    pub(super) fn asked(&mut self) -> (u64, Value) {
        let id = self.begin();
        (id, self.client.question())
    }

    /// Prompts without waiting.
    pub(super) fn begin(&mut self) -> u64 {
        let params = prompt(&self.client.session, "go");
        self.client.request("session/prompt", params)
    }

    /// Ends the agent, and checks its messages and that no process is left.
    pub(super) fn end(self) -> (AgentHome, Recording) {
        let recording = self.client.recorder.end();
        assert_eq!(lint_recording(&recording.frames), Vec::<String>::new());
        assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
        self.home.wait_for_processes(None);
        (self.home, recording)
    }
}

/// Returns the outcome of a turn if the user answers no.
pub(super) fn outcome(home: AgentHome, turn: Value) -> (TurnOutcome, AgentHome) {
    outcome_with(home, turn, |_| {})
}

pub(super) fn outcome_with(
    home: AgentHome,
    turn: Value,
    differ: impl FnOnce(&mut Command),
) -> (TurnOutcome, AgentHome) {
    let mut session = ScriptedSession::with(home, crate::agent::cases::NO, &[turn], differ);
    session.client.prompt("go");
    let (home, recording) = session.end();
    let ran = call_statuses(&recording.frames)
        .iter()
        .any(|(_, statuses)| statuses.contains("in_progress"));
    let asked = !questions(&recording.frames).is_empty();
    assert!(!(asked && ran), "the call ran although the answer was no");
    let outcome = if asked {
        TurnOutcome::Asked
    } else if ran {
        TurnOutcome::Ran
    } else {
        TurnOutcome::Refused
    };
    (outcome, home)
}

/// Returns every permission request.
pub(super) fn questions(frames: &[RecordedLine]) -> Vec<Value> {
    let messages = frames.iter().filter(|frame| frame.side == Side::Agent);
    let messages = messages.map(RecordedLine::message);
    messages.filter(asks_permission).collect()
}

/// Returns all lines of the agent, as text.
pub(super) fn agent_lines(recording: &Recording) -> String {
    let lines = recording
        .frames
        .iter()
        .filter(|frame| frame.side == Side::Agent);
    lines
        .map(|frame| frame.line.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}
