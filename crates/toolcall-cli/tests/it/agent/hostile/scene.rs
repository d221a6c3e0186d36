//! A stage with an agent on it that plays a written turn, and what became of its calls.
//! It answers as it was told and judges nothing but the wire.

use std::process::Command;

use serde_json::{Value, json};
use toolcall_testkit::client::{Side, asks_permission, prompt};

use crate::agent::client::{Answer, Cancel, Client, Manner, Offer};
use crate::agent::linter::{judge, lives};
use crate::agent::stage::Stage;
use crate::recorder::{Frame, Recorder, Recording};

pub(super) const POLICY: &str = "home/config/toolcall/policy.toml";

/// It answers no question by itself.
pub(super) const SILENT: Manner = Manner {
    answer: Answer::Silence,
    cancel: Cancel::Never,
};

/// An agent that plays a script.
pub(super) struct Scene {
    pub(super) stage: Stage,
    pub(super) client: Client,
}

/// What became of the calls of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Somebody was asked.
    Asked,
    /// Refused without a question.
    Refused,
    /// It ran without a question.
    Ran,
}

/// One turn that makes this call.
pub(super) fn turn_of(case: &Value) -> Value {
    turn(
        case["input"]["tool"].as_str().unwrap(),
        case["input"]["args"].clone(),
    )
}

/// One turn that makes one call.
pub(super) fn turn(tool: &str, input: Value) -> Value {
    json!([{"call": {"tool": tool, "input": input}}])
}

pub(super) fn running(command: &str) -> Value {
    turn("run_command", json!({"command": command}))
}

impl Scene {
    /// A session on a fresh stage, in which these turns are played, with the mode `ask`.
    pub(super) fn open(manner: Manner, turns: &[Value]) -> Self {
        Self::on(Stage::new(), manner, turns)
    }

    /// The same on this stage.
    pub(super) fn on(stage: Stage, manner: Manner, turns: &[Value]) -> Self {
        Self::with(stage, manner, turns, |_| {})
    }

    /// The same, by an agent that is started a little differently.
    pub(super) fn with(
        stage: Stage,
        manner: Manner,
        turns: &[Value],
        differ: impl FnOnce(&mut Command),
    ) -> Self {
        // JSON is YAML.
        let script = stage.write("script.yaml", &json!(turns).to_string());
        let model = format!("script:{}", script.display());
        let mut agent = stage.agent(&["--model", &model]);
        differ(&mut agent);
        let mut client = Client::greet(Recorder::start(agent), Offer::Nothing, manner);
        client.open(&stage.project(), json!([]));
        Self { stage, client }
    }

    /// Prompts, and hears the question that comes of it: the request's id, and the question.
    pub(super) fn asked(&mut self) -> (u64, Value) {
        let id = self.begin();
        (id, self.client.question())
    }

    /// Prompts, and waits for nothing.
    pub(super) fn begin(&mut self) -> u64 {
        let params = prompt(&self.client.session, "go");
        self.client.request("session/prompt", params)
    }

    /// Ends the agent; nothing is wrong with what it said, and nothing is left of it.
    pub(super) fn end(self) -> (Stage, Recording) {
        let recording = self.client.recorder.end();
        assert_eq!(judge(&recording.frames), Vec::<String>::new());
        assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
        self.stage.settle(None);
        (self.stage, recording)
    }
}

/// What becomes of the call of this turn if people say no.
pub(super) fn fate(stage: Stage, turn: Value) -> (Fate, Stage) {
    fate_with(stage, turn, |_| {})
}

pub(super) fn fate_with(
    stage: Stage,
    turn: Value,
    differ: impl FnOnce(&mut Command),
) -> (Fate, Stage) {
    let mut scene = Scene::with(stage, crate::agent::cases::NO, &[turn], differ);
    scene.client.prompt("go");
    let (stage, recording) = scene.end();
    let ran = lives(&recording.frames)
        .iter()
        .any(|(_, life)| life.contains("in_progress"));
    let fate = match (questions(&recording.frames).is_empty(), ran) {
        (false, false) => Fate::Asked,
        (true, false) => Fate::Refused,
        (true, true) => Fate::Ran,
        (false, true) => panic!("it ran although the answer was no"),
    };
    (fate, stage)
}

/// Every question that was asked.
pub(super) fn questions(frames: &[Frame]) -> Vec<Value> {
    let messages = frames.iter().filter(|frame| frame.side == Side::Agent);
    let messages = messages.map(Frame::message);
    messages.filter(asks_permission).collect()
}

/// Everything the agent said, as text.
pub(super) fn said(recording: &Recording) -> String {
    let lines = recording
        .frames
        .iter()
        .filter(|frame| frame.side == Side::Agent);
    lines
        .map(|frame| frame.line.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}
