//! Records heard one by one, and what the rules of then are taken to have said.
//! No file is read but those of an empty folder.

use serde_json::json;
use tempfile::TempDir;
use toolcall::{Kind, Moment, Rule, RuleName};
use toolcall_history::SessionFacts;
use toolcall_policy::Places;

use super::*;

const KEPT: &str = "write = \"./a\"";

fn person(temp: &TempDir) -> Person {
    Person {
        places: Places {
            config: temp.path().join("config"),
            state: temp.path().join("state"),
        },
        home: None,
    }
}

/// A session in `/work`.
fn court(temp: &TempDir) -> Court {
    let mut court = Court::new(person(temp), Vec::new());
    let opened = Exported::Session {
        session: SessionId::new("s"),
        at: Moment::default(),
        event: SessionEvent::Opened(SessionFacts {
            cwd: "/work".into(),
            ..SessionFacts::default()
        }),
    };
    court.hear(opened).unwrap();
    court
}

fn hear(court: &mut Court, call: &str, event: Event) {
    let record = Record {
        session: SessionId::new("s"),
        call: CallId::new(call),
        at: Moment::default(),
        event,
    };
    court.hear(Exported::Call(record)).unwrap();
}

fn intent() -> Intent {
    Intent::new(Kind::Edit, "Write a").touching(Touch::Writes("/work/a".into()))
}

fn write(court: &mut Court, call: &str, by: Judge) {
    let prepared = Prepared {
        input: Arc::new(json!({"path": "a"})),
        intent: intent(),
    };
    hear(court, call, Event::Prepared(Arc::new(prepared)));
    let decision = Decision {
        question: None,
        effect: Effect::Allow,
        by,
    };
    hear(court, call, Event::Decided(Arc::new(decision)));
}

/// The name under which a kept answer decides.
fn name_of_the_answer(temp: &TempDir, rule: &Rule) -> String {
    let settings = BookSettings {
        places: person(temp).places,
        roots: vec!["/work".into()],
        home: None,
        layers: vec![Layer::remembered([(rule, Effect::Allow)], None).unwrap()],
    };
    let setting = Setting::new(SessionId::new("s"), "/work");
    let explained = Book::open(settings).rules().explain(&intent(), &setting);
    assert_eq!(explained.stance, Stance::Allow, "{}", explained.reason);
    explained.rule
}

#[test]
fn what_an_answer_of_the_session_allowed_would_be_asked_again() {
    let temp = TempDir::new().unwrap();
    let rule = Rule {
        text: KEPT.into(),
        lifetime: Lifetime::Session,
    };
    let name = name_of_the_answer(&temp, &rule);
    let mut court = court(&temp);
    write(&mut court, "one", Judge::Person(Remembered::Kept(rule)));
    write(&mut court, "two", Judge::Rule(RuleName::new(name)));
    write(&mut court, "three", Judge::Rule(RuleName::new("allow all")));
    let told: Vec<_> = court
        .judged
        .iter()
        .map(|one| (one.was, one.would))
        .collect();
    assert_eq!(
        told,
        [
            (Stance::Ask, Stance::Ask),
            (Stance::Ask, Stance::Ask),
            (Stance::Allow, Stance::Ask),
        ]
    );
}

#[test]
fn what_has_no_decision_or_no_intent_is_not_judged() {
    let temp = TempDir::new().unwrap();
    let mut court = court(&temp);
    let decided = Decision {
        question: None,
        effect: Effect::Deny,
        by: Judge::Rule(RuleName::new("no")),
    };
    hear(&mut court, "one", Event::Asked(asked()));
    hear(&mut court, "one", Event::Decided(Arc::new(decided)));
    hear(&mut court, "two", Event::Asked(asked()));
    court.adjourn();
    let why: Vec<&str> = court.unjudged.iter().map(|one| one.why).collect();
    assert_eq!(
        why,
        ["it did not say what it would do", "nothing was decided yet"]
    );
    assert_eq!(court.judged.len(), 0);
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
