//! A model asks for another mode, through a real engine and a real rulebook in temporary folders.
//! Who answers is scripted; no terminal and no client is there.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use toolcall::{
    Answer, AnswerContext, Approver, Content, Effect, Ending, Engine, EngineBuilder, Intent, Judge,
    Kind, Outcome, Policy, PrepareContext, Question, Registry, Rule, Rulebook, RulebookError,
    RunContext, SessionContext, SessionId, Tool, ToolError, ToolRequest, Touch, Verdict,
};
use toolcall_agent::SwitchMode;
use toolcall_policy::{Mode, PolicyStore, PolicyStoreConfig, UserDirs};
use toolcall_testkit::dir::TestDir;

/// A home, a project, and the rules of a session there.
struct Stage {
    dir: TestDir,
    book: PolicyStore,
}

impl Stage {
    fn new(mode: Mode) -> Self {
        Self::with_project(mode, "")
    }

    /// With a policy that the project brings.
    fn with_project(mode: Mode, policy: &str) -> Self {
        let dir = TestDir::with(&[("proj/.toolcall/policy.toml", policy)]);
        let book = PolicyStore::open(PolicyStoreConfig {
            places: UserDirs {
                config: dir.at("config"),
                state: dir.at("state"),
            },
            roots: vec![dir.at("proj")],
            home: None,
            layers: Vec::new(),
        });
        book.set_mode(mode);
        Self { dir, book }
    }

    fn root(&self) -> PathBuf {
        self.dir.at("proj")
    }

    fn mode(&self) -> Mode {
        self.book.rules().mode()
    }

    fn engine(&self, approver: impl Approver) -> Engine {
        self.judged_by(Arc::new(self.book.clone()))
            .approver(approver)
            .build()
    }

    fn judged_by(&self, rulebook: Arc<dyn Rulebook>) -> EngineBuilder {
        let mut tools = Registry::new();
        tools
            .add(SwitchMode::new(self.book.clone()))
            .unwrap()
            .add(Note(self.root()))
            .unwrap();
        Engine::builder(tools)
            .setting(SessionContext::new(SessionId::new("s"), self.root()))
            .rulebook(rulebook)
    }
}

/// States that it writes a file of the project, and does nothing.
struct Note(PathBuf);

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

impl Tool for Note {
    const NAME: &'static str = "note";
    const DESCRIPTION: &'static str = "Writes a note.";
    type Input = NoInput;
    type Output = String;

    async fn prepare(&self, _: &NoInput, _: &PrepareContext) -> Result<Intent, ToolError> {
        let path = Path::new(&self.0).join("note.txt");
        Ok(Intent::new(Kind::Edit, "Write a note").touching(Touch::Writes(path)))
    }

    async fn run(&self, _: NoInput, _: &RunContext) -> Result<String, ToolError> {
        Ok("noted".to_owned())
    }
}

fn switch(mode: &str) -> ToolRequest {
    ToolRequest::new("switch_mode", json!({"mode": mode, "because": "tests"}))
}

/// Answers every question in the same way, and keeps what was asked.
fn answering(answer: Answer) -> (impl Approver, Arc<Mutex<Vec<Arc<Question>>>>) {
    let asked: Arc<Mutex<Vec<_>>> = Arc::default();
    let kept = asked.clone();
    let approver = move |question: Arc<Question>| {
        kept.lock().unwrap().push(question);
        std::future::ready(answer.clone())
    };
    (approver, asked)
}

/// Nobody should be asked.
async fn nobody(question: Arc<Question>) -> Answer {
    panic!("asked about {}", question.subject.intent.title)
}

fn check_result(outcome: &Outcome, expect: Expect) {
    expect.assert_eq(&texts(&outcome.result().content));
}

fn texts(content: &[Content]) -> String {
    let text = |content: &Content| match content {
        Content::Text(text) => text.to_string(),
        other => panic!("{other:?}"),
    };
    content.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// What was asked and what the person was shown, after a no to a switch to allow-all.
async fn refused(stage: &Stage) -> String {
    let (approver, asked) = answering(Answer::reject());
    let outcome = stage.engine(approver).run(switch("allow-all")).await;
    assert_eq!(outcome.ending(), &Ending::denied("the user rejected it"));
    let asked = asked.lock().unwrap();
    let [question] = asked.as_slice() else {
        panic!("{asked:?}");
    };
    assert_eq!(question.offers, []);
    let intent = &question.subject.intent;
    let preview = texts(&intent.preview);
    format!("{:?}: {}\n{preview}\n", intent.kind, intent.title)
}

/// Hostile case permission-047: a model raises the mode by itself.
#[tokio::test]
async fn a_looser_mode_is_asked_about_and_a_no_keeps_the_mode() {
    let mut shown = Vec::new();
    for mode in [Mode::Ask, Mode::ReadOnly] {
        let stage = Stage::new(mode);
        shown.push(refused(&stage).await);
        assert_eq!(stage.mode(), mode);
    }
    shown.dedup();
    expect![[r#"
        SwitchMode: Switch to allow-all: tests
        Everything runs without a question; only deny rules, ask rules and protected paths still hold.
        ALLOW-ALL: commands, writes, deletions and web requests run WITHOUT ASKING. Only deny rules, ask rules and protected paths still hold.
        This is looser than the mode that holds now.
    "#]].assert_eq(&shown.concat());
}

#[tokio::test]
async fn after_a_yes_the_looser_mode_holds() {
    let stage = Stage::new(Mode::Ask);
    let (approver, _) = answering(Answer::AllowOnce);
    let outcome = stage.engine(approver).run(switch("accept-edits")).await;
    check_result(
        &outcome,
        expect![
            "the mode is `accept-edits` now. Files in the session's folders are read and written without a question; the rest is asked about."
        ],
    );
    assert_eq!(stage.mode(), Mode::AcceptEdits);
}

#[tokio::test]
async fn a_stricter_mode_is_silent() {
    let stage = Stage::new(Mode::Ask);
    let engine = stage.engine(nobody);
    let outcome = engine.run(switch("read-only")).await;
    check_result(
        &outcome,
        expect![
            "the mode is `read-only` now. Files in the session's folders are read without a question; what changes anything is denied."
        ],
    );
    assert_eq!(stage.mode(), Mode::ReadOnly);
    let outcome = engine.run(ToolRequest::new("note", json!({}))).await;
    assert_eq!(
        outcome.call.decision().map(|decision| decision.effect),
        Some(Effect::Deny)
    );
}

#[tokio::test]
async fn in_deny_all_there_is_no_way_out() {
    let stage = Stage::new(Mode::DenyAll);
    let outcome = stage.engine(nobody).run(switch("ask")).await;
    assert_eq!(
        outcome.call.decision().map(|decision| decision.effect),
        Some(Effect::Deny)
    );
    assert_eq!(stage.mode(), Mode::DenyAll);
}

#[tokio::test]
async fn a_project_that_insists_is_told_to_the_model() {
    let stage = Stage::with_project(Mode::Ask, "mode = 'read-only'\n");
    let (approver, _) = answering(Answer::AllowOnce);
    let outcome = stage.engine(approver).run(switch("allow-all")).await;
    check_result(
        &outcome,
        expect![
            "the mode is `read-only`, not `allow-all`: the project insists on it. Files in the session's folders are read without a question; what changes anything is denied."
        ],
    );
    assert_eq!(stage.mode(), Mode::ReadOnly);
}

#[tokio::test]
async fn a_mode_that_does_not_exist_is_refused() {
    let stage = Stage::new(Mode::Ask);
    let outcome = stage.engine(nobody).run(switch("bypass")).await;
    expect![[r#"
        Failed { reason: "the input does not fit the schema: `/mode`: value is not one of \"allow-all\", \"accept-edits\" or 3 other candidates" }
    "#]].assert_eq(&format!("{:?}\n", outcome.ending()));
    assert_eq!(stage.mode(), Mode::Ask);
}

#[tokio::test]
async fn calls_that_wait_are_judged_by_the_new_mode() {
    let stage = Stage::new(Mode::Ask);
    let (seen, mut waiting) = mpsc::channel(1);
    let engine = stage.engine(move |question: Arc<Question>| {
        let seen = seen.clone();
        async move {
            if question.subject.intent.kind == Kind::SwitchMode {
                return Answer::AllowOnce;
            }
            seen.send(()).await.unwrap();
            std::future::pending().await
        }
    });
    let turn = engine.turn();
    let note = turn.call(ToolRequest::new("note", json!({}))).await;
    waiting.recv().await.unwrap();
    turn.call(switch("accept-edits")).await.await;
    let outcome = note.await;
    let decision = outcome.call.decision().unwrap();
    let by = match &decision.by {
        Judge::Rule(rule) => rule.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (decision.effect, &*by),
        (Effect::Allow, "mode accept-edits")
    );
    assert_eq!(outcome.ending(), &Ending::Completed);
}

/// Tightens the mode right after a call was judged, as a call beside it would.
struct Tightening(PolicyStore);

impl Rulebook for Tightening {
    fn policy(&self) -> Arc<dyn Policy> {
        Arc::new(Tightening(self.0.clone()))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes()
    }

    fn remember(
        &self,
        rule: &Rule,
        effect: Effect,
        on: &AnswerContext,
    ) -> Result<(), RulebookError> {
        self.0.remember(rule, effect, on)
    }
}

impl Policy for Tightening {
    fn judge(&self, intent: &Intent, setting: &SessionContext) -> Verdict {
        let verdict = self.0.rules().judge(intent, setting);
        self.0.set_mode(Mode::ReadOnly);
        verdict
    }
}

#[tokio::test]
async fn what_was_silent_does_not_loosen_a_mode_that_became_stricter() {
    let stage = Stage::new(Mode::Ask);
    let rulebook = Arc::new(Tightening(stage.book.clone()));
    let engine = stage.judged_by(rulebook).approver(nobody).build();
    let outcome = engine.run(switch("ask")).await;
    expect![[r#"
        Failed { reason: "the mode became stricter meanwhile, so nothing was switched; ask again if it is still wanted" }
    "#]].assert_eq(&format!("{:?}\n", outcome.ending()));
    assert_eq!(stage.mode(), Mode::ReadOnly);
}

#[test]
fn the_model_is_told_what_each_mode_is() {
    let stage = Stage::new(Mode::Ask);
    let mut tools = Registry::new();
    tools.add(SwitchMode::new(stage.book.clone())).unwrap();
    let definition = tools.definition("switch_mode").unwrap();
    expect![[r#"
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "mode": {
              "type": "string",
              "enum": [
                "allow-all",
                "accept-edits",
                "ask",
                "read-only",
                "deny-all"
              ],
              "description": "The mode. `allow-all`: Everything runs without a question; only deny rules, ask rules and protected paths still hold. `accept-edits`: Files in the session's folders are read and written without a question; the rest is asked about. `ask`: Files in the session's folders are read without a question; the rest is asked about. `read-only`: Files in the session's folders are read without a question; what changes anything is denied. `deny-all`: Every call is denied."
            },
            "because": {
              "type": [
                "string",
                "null"
              ],
              "description": "Why it is wanted, in one line for the person who is asked.",
              "default": null
            }
          },
          "required": [
            "mode"
          ],
          "description": "What [`SwitchMode`] takes."
        }
    "#]].assert_eq(&format!("{:#}\n", definition.input_schema));
}
