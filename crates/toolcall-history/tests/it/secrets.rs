//! No secret reaches a file or an export, in whichever field it comes.
//! Secrets are assembled from parts, so that none is in this file.

use std::sync::Arc;

use serde_json::json;
use toolcall::{
    Announced, CallId, Command, Content, Decision, Effect, Ending, Event, FileEdit, Finish, Input,
    InputGrowth, Intent, Judge, Kind, Link, Location, Outline, Output, OutputBudget, Part, Plan,
    PlanEntry, PlanStatus, Prepared, Priority, Progress, Question, QuestionId, Reading, Remembered,
    Resource, ResourceBody, Restatement, Rule, RuleName, Sketch, Store, Ticket, ToolResult, Touch,
};
use toolcall_history::{
    CallFilter, ExportScope, History, HistoryConfig, KeepContent, KeepUndo, SessionEvent,
    SessionFacts, Speaker,
};

use crate::setup::{TestHistory, announced, decided, journal, session, settings, write};

/// Returns random-looking text that differs for each salt and is nobody's secret.
fn body(salt: usize, length: usize, alphabet: &str) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 88_172_645_463_325_252_u64 + salt as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters[(state >> 16) as usize % letters.len()]
    };
    // The first values of similar salts are similar.
    (0..20 + length).map(|_| next()).skip(20).collect()
}

const MIXED: &str = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ";
const UPPER: &str = "A1B2C3D4E5F6G7H8";
const HEX: &str = "0a1b2c3d4e5f6789";

/// The prefix, the length and the alphabet of providers' keys.
const SHAPES: &[(&str, usize, &str)] = &[
    ("sk-", 48, MIXED),
    ("sk-proj-", 64, MIXED),
    ("sk-ant-api03-", 90, MIXED),
    ("ghp_", 36, MIXED),
    ("gho_", 36, MIXED),
    ("github_pat_", 70, MIXED),
    ("glpat-", 20, MIXED),
    ("AKIA", 16, UPPER),
    ("ASIA", 16, UPPER),
    ("AIza", 35, MIXED),
    ("ya29.", 60, MIXED),
    ("xoxb-", 40, MIXED),
    ("xoxp-", 60, MIXED),
    ("xapp-", 50, MIXED),
    ("sk_live_", 24, MIXED),
    ("rk_live_", 24, MIXED),
    ("whsec_", 32, MIXED),
    ("hf_", 34, MIXED),
    ("gsk_", 50, MIXED),
    ("xai-", 60, MIXED),
    ("npm_", 36, MIXED),
    ("pypi-", 80, MIXED),
    ("dop_v1_", 64, HEX),
    ("shpat_", 32, HEX),
    ("lin_api_", 40, MIXED),
    ("dckr_pat_", 27, MIXED),
    ("hvs.", 40, MIXED),
    ("glsa_", 40, MIXED),
    ("SK", 32, HEX),
    ("key-", 32, HEX),
];

/// Texts with a secret, and the secret that must not be stored.
fn secrets() -> Vec<(String, String)> {
    let mut secrets = Vec::new();
    for (salt, (prefix, length, alphabet)) in SHAPES.iter().enumerate() {
        let secret = format!("{prefix}{}", body(salt, *length, alphabet));
        secrets.push((secret.clone(), secret));
    }
    let mut salt = 100;
    let mut named = |before: &str, begin: &str, after: &str| {
        salt += 1;
        let secret = format!("{begin}{}", body(salt, 14, MIXED));
        (format!("{before}{secret}{after}"), secret)
    };
    secrets.extend([
        named("export DATABASE_PASSWORD=", "q1", " && ./run"),
        named("MY_SERVICE_KEY='", "q2", "'"),
        named("CI_JOB_TOKEN=", "q3", ""),
        named("client_secret: ", "q4", "\nother: 1"),
        named("{\"api_key\": \"", "q5", "\"}"),
        named(
            "curl -H 'Authorization: Bearer ",
            "q6",
            "' https://a.example",
        ),
        named("Authorization: Basic ", "q7", "==\r\nAccept: */*"),
        named("postgres://app:", "q8", "@db.example/app"),
        named("https://", "q9xxxxxxxxxxxx", "@git.example/a.git"),
        named("mysql --password ", "qa", " app"),
        named("curl -u me:", "qb", " https://a.example"),
        named("Cookie: session=", "qc", "; theme=dark"),
        named("https://hooks.slack.com/services/T000/B000/", "qd", ""),
    ]);
    let jwt = [
        "eyJ",
        &body(200, 30, MIXED),
        ".",
        "eyJ",
        &body(201, 60, MIXED),
        ".",
        &body(202, 43, MIXED),
    ]
    .concat();
    secrets.push((format!("token {jwt} was used"), jwt));
    let lines = [body(300, 64, MIXED), body(301, 64, MIXED)].join("\n");
    let pem = format!(
        "-----BEGIN {0} KEY-----\n{lines}\n-----END {0} KEY-----",
        "RSA PRIVATE"
    );
    secrets.push((pem, body(301, 64, MIXED)));
    secrets
}

/// Every sort of event, with this text in every field that takes one.
fn every_event(text: &str) -> Vec<Event> {
    let arc: Arc<str> = text.into();
    let sketch = Sketch {
        title: text.to_owned(),
        kind: Kind::Execute,
        locations: vec![Location::file(format!("/work/{text}"))],
    };
    let value = Arc::new(json!({"command": text, "list": [text, {"deep": text}]}));
    let subject = subject(text, [Touch::Reaches(arc.clone())]);
    let [asked, answered] = asking(text, text, &subject);
    vec![
        Event::InputGrew(InputGrowth {
            bytes: 1,
            sketch: Arc::new(sketch.clone()),
        }),
        Event::InputArrived(Input::Text(arc.clone())),
        Event::Prepared(subject),
        asked,
        answered,
        decided(Effect::Deny, "rule"),
        Event::Started,
        Event::Progressed(Progress::at(1.0).saying(text)),
        Event::Showed(contents(text).into()),
        Event::Held(arc.clone()),
        Event::Resumed,
        planned(text),
        Event::Noted {
            key: arc.clone(),
            value: value.clone(),
        },
        Event::Located(sketch.locations.clone().into()),
        Event::Restated(Arc::new(Restatement {
            tool: Some(arc.clone()),
            sketch,
            input: Some(Input::Json(value)),
            preview: contents(text),
        })),
        Event::StatusUnknown(arc),
        ended(text, printed(text)),
    ]
}

fn edit(text: &str) -> FileEdit {
    FileEdit::modified("/work/a", text, format!("{text} more"))
}

/// A prepared command whose every part contains this text.
fn subject(text: &str, touches: impl IntoIterator<Item = Touch>) -> Arc<Prepared> {
    let part = Part::new(vec!["echo".into(), text.to_owned()], "/work");
    let mut command = Command::new(text, "/work", Reading::Understood(vec![part]));
    command.env.insert("NOTE".into(), text.into());
    let intent = Intent::new(Kind::Execute, text)
        .running(command)
        .showing(text)
        .editing(edit(text));
    let intent = touches.into_iter().fold(intent, Intent::touching);
    Arc::new(Prepared {
        input: Arc::new(json!({ "command": text })),
        intent,
    })
}

/// A question because of this rule, and an answer that could not be remembered.
fn asking(text: &str, because: &str, subject: &Arc<Prepared>) -> [Event; 2] {
    let rule = Rule::exactly(&subject.intent);
    let question = Question {
        id: QuestionId::new("q"),
        session: session(),
        call: CallId::new("call"),
        subject: subject.clone(),
        offers: vec![rule.clone()],
        because: RuleName::new(because.to_owned()),
    };
    let why = if because == text { text } else { "no room" }.into();
    let answer = Decision {
        question: Some(QuestionId::new("q")),
        effect: Effect::Allow,
        by: Judge::Person(Remembered::NotKept { rule, why }),
    };
    [
        Event::Asked(Arc::new(question)),
        Event::Decided(Arc::new(answer)),
    ]
}

fn planned(text: &str) -> Event {
    let entry = PlanEntry {
        content: text.to_owned(),
        status: PlanStatus::Pending,
        priority: Priority::Low,
    };
    Event::Planned(Arc::new(Plan {
        entries: vec![entry],
    }))
}

fn contents(text: &str) -> Vec<Content> {
    let arc: Arc<str> = text.into();
    let link = Link {
        uri: arc.clone(),
        name: arc.clone(),
        title: Some(arc.clone()),
        description: Some(arc.clone()),
        ..Link::default()
    };
    let resource = Resource {
        uri: arc.clone(),
        mime: None,
        body: ResourceBody::Text(arc),
    };
    vec![
        Content::text(text),
        Content::Link(link),
        Content::Resource(resource),
        Content::Edit(edit(text)),
    ]
}

fn ended(text: &str, output: Output) -> Event {
    Event::Finished(Arc::new(Finish {
        ending: Ending::failed(text),
        result: ToolResult::from(contents(text)).structured(json!({ "said": text })),
        output: Arc::new(output),
    }))
}

/// Output that is cut within the text, so that half of it is at the end of the head.
fn printed(text: &str) -> Output {
    let (head, tail) = (text.len() / 2 + 6, text.len() + 3);
    let mut output = Output::new(OutputBudget { head, tail });
    output.push(b"first ");
    for _ in 0..3 {
        output.push(text.as_bytes());
        output.push(b" ");
    }
    output
}

/// Stores every sort of event with this text, as records of one call.
fn store_everywhere(history: &History, text: &str, number: usize) {
    let first = Event::Announced(Arc::new(Announced {
        tool: text.into(),
        model_id: None,
        parent: None,
        input: Some(Input::from(json!({"command": text, "args": [text]}))),
        outline: Outline::inferred(Kind::Execute),
    }));
    for event in [first].into_iter().chain(every_event(text)) {
        drop(history.append(toolcall::Record {
            session: session(),
            call: CallId::new(format!("call-{number}")),
            at: toolcall::Timestamp::from_micros(1),
            event,
        }));
    }
    let facts = SessionFacts {
        agent: text.into(),
        agent_version: text.into(),
        client: text.into(),
        client_version: text.into(),
        protocol: "1".into(),
        cwd: format!("/work/{text}").into(),
    };
    for by in [Speaker::Person, Speaker::Agent, Speaker::Thought] {
        drop(history.record(
            &session(),
            SessionEvent::Said {
                by,
                text: text.into(),
            },
        ));
    }
    drop(history.record(&session(), SessionEvent::Opened(facts)));
    drop(history.record(&session(), SessionEvent::TurnEnded { stop: text.into() }));
    history.flush().expect("it is written");
}

fn without_undo() -> HistoryConfig {
    HistoryConfig {
        undo: KeepUndo::No,
        ..settings()
    }
}

#[test]
fn no_secret_is_in_the_bytes_of_any_file_or_of_an_export() {
    let files = TestHistory::default();
    // It stays open, so that its WAL is not truncated.
    let history = files.open_with(without_undo());
    let secrets = secrets();
    for (number, (text, _)) in secrets.iter().enumerate() {
        store_everywhere(&history, text, number);
    }
    let mut bytes = files.bytes();
    let lines = files
        .archive()
        .export(&ExportScope::Everything, &mut bytes)
        .expect("an export");
    assert!(lines > 20 * secrets.len() as u64);
    let wal = std::fs::metadata(files.path.with_file_name("history.db-wal")).expect("a journal");
    assert!(wal.len() > 0, "the journal is part of what is searched");
    let found: Vec<String> = secrets
        .iter()
        .filter_map(|(_, secret)| found(&bytes, secret))
        .collect();
    assert_eq!(found, [] as [&str; 0]);
}

/// Finds a secret, or any 10 consecutive bytes of it; returns the text around it.
fn found(bytes: &[u8], secret: &str) -> Option<String> {
    let parts: Vec<&[u8]> = secret.as_bytes().windows(10).collect();
    let finder = aho_corasick::AhoCorasick::new(&parts).expect("few parts");
    let place = finder.find(bytes)?.start();
    let around = &bytes[place.saturating_sub(120)..bytes.len().min(place + 40)];
    Some(format!("{secret}: {}", String::from_utf8_lossy(around)))
}

/// Events with this word in every part of an input and an output, and nowhere else.
fn contents_only(word: &str) -> Vec<Event> {
    let subject = subject(word, []);
    let [asked, answered] = asking(word, "ask", &subject);
    vec![
        Event::Prepared(subject),
        asked,
        answered,
        Event::Started,
        Event::Progressed(Progress::at(1.0).saying(word)),
        Event::Showed(contents(word).into()),
        planned(word),
        Event::Noted {
            key: "key".into(),
            value: Arc::new(json!(word)),
        },
        ended(word, printed(word)),
    ]
}

#[test]
fn without_contents_no_word_of_an_input_or_an_output_is_kept() {
    let files = TestHistory::default();
    let word = "unmistakable-word";
    let history = files.open_with(HistoryConfig {
        keep: KeepContent::NoContents,
        ..without_undo()
    });
    let journal = journal(&session(), &history);
    let id = CallId::new("call");
    let input = announced("run_command", json!({ "command": word }));
    assert_eq!(journal.announce(&id, input, Ticket::default()), Ok(()));
    for event in contents_only(word) {
        drop(write(&journal, &id, event));
    }
    let said = SessionEvent::Said {
        by: Speaker::Person,
        text: word.into(),
    };
    drop(history.record(&session(), said));
    history.flush().expect("it is written");
    assert!(!files.holds(word));
    let archive = history.archive().expect("an archive");
    let calls = archive.calls(&CallFilter::default()).expect("calls");
    let [call] = &*calls else {
        panic!("one call: {calls:?}");
    };
    assert_eq!((&*call.tool, &*call.status), ("run_command", "failed"));
    assert_eq!(
        (call.judge.as_deref(), call.kind),
        (Some("person"), Kind::Execute)
    );
    assert_eq!(archive.verify().err(), None);
}
