//! Replays of single records, and the verdicts then that are derived from them.
//! The only directory that is read is empty.

use serde_json::json;
use tempfile::TempDir;
use toolcall::{Kind, Rule, RuleName, Timestamp};

use super::*;
use crate::{Layer, UserDirs};

const REMEMBERED: &str = "write = \"./a\"";

fn config(temp: &TempDir, layers: Vec<Layer>) -> PolicyStoreConfig {
    PolicyStoreConfig {
        places: UserDirs {
            config: temp.path().join("config"),
            state: temp.path().join("state"),
        },
        roots: vec!["/work".into()],
        home: None,
        layers,
    }
}

/// A session in `/work`.
fn replay(temp: &TempDir) -> PolicyReplay {
    let mut replay = PolicyReplay::new(config(temp, Vec::new()), "[redacted]");
    replay.session(SessionId::new("s"), "/work".into());
    replay
}

fn take(replay: &mut PolicyReplay, call: &str, event: Event) {
    let record = Record {
        session: SessionId::new("s"),
        call: CallId::new(call),
        at: Timestamp::default(),
        event,
    };
    replay.record(record).unwrap();
}

fn intent() -> Intent {
    Intent::new(Kind::Edit, "Write a").touching(Touch::Writes("/work/a".into()))
}

fn write(replay: &mut PolicyReplay, call: &str, by: Judge) {
    let prepared = Prepared {
        input: Arc::new(json!({"path": "a"})),
        intent: intent(),
    };
    take(replay, call, Event::Prepared(Arc::new(prepared)));
    let decision = Decision {
        question: None,
        effect: Effect::Allow,
        by,
    };
    take(replay, call, Event::Decided(Arc::new(decision)));
}

/// Returns the name of a remembered rule, as decisions record it.
fn name_of_the_answer(temp: &TempDir, rule: &Rule) -> String {
    let layer = Layer::remembered([(rule, Effect::Allow)], None).unwrap();
    let config = config(temp, vec![layer]);
    let context = SessionContext::new(SessionId::new("s"), "/work");
    let explained = PolicyStore::open(config)
        .rules()
        .explain(&intent(), &context);
    assert_eq!(explained.effect, RuleEffect::Allow, "{}", explained.reason);
    explained.rule
}

#[test]
fn what_an_answer_of_the_session_allowed_would_be_asked_again() {
    let temp = TempDir::new().unwrap();
    let rule = Rule {
        text: REMEMBERED.into(),
        lifetime: Lifetime::Session,
    };
    let name = name_of_the_answer(&temp, &rule);
    let mut replay = replay(&temp);
    write(&mut replay, "one", Judge::Person(Remembered::Kept(rule)));
    write(&mut replay, "two", Judge::Rule(RuleName::new(name)));
    write(
        &mut replay,
        "three",
        Judge::Rule(RuleName::new("allow all")),
    );
    let replayed = replay.finish();
    let judged: Vec<_> = replayed
        .judged
        .iter()
        .map(|one| (one.was, one.would))
        .collect();
    assert_eq!(
        judged,
        [
            (RuleEffect::Ask, RuleEffect::Ask),
            (RuleEffect::Ask, RuleEffect::Ask),
            (RuleEffect::Allow, RuleEffect::Ask),
        ]
    );
}

#[test]
fn what_has_no_decision_or_no_intent_is_not_judged() {
    let temp = TempDir::new().unwrap();
    let mut replay = replay(&temp);
    let decided = Decision {
        question: None,
        effect: Effect::Deny,
        by: Judge::Rule(RuleName::new("no")),
    };
    take(&mut replay, "one", Event::Asked(asked()));
    take(&mut replay, "one", Event::Decided(Arc::new(decided)));
    take(&mut replay, "two", Event::Asked(asked()));
    let replayed = replay.finish();
    let why: Vec<&str> = replayed.skipped.iter().map(|one| one.why).collect();
    assert_eq!(
        why,
        ["it did not say what it would do", "nothing was decided yet"]
    );
    assert_eq!(replayed.judged.len(), 0);
}

fn asked() -> Arc<toolcall::Question> {
    Arc::new(toolcall::Question {
        id: toolcall::QuestionId::new("q"),
        session: SessionId::new("s"),
        call: CallId::new("one"),
        subject: Arc::new(Prepared {
            input: Arc::new(json!({})),
            intent: intent(),
        }),
        offers: Vec::new(),
        because: RuleName::new("ask"),
    })
}
