//! Queries of a history: lists, filters, single calls, sessions, exports.
//! Whole values are compared wherever they are small enough to be read.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use toolcall::{
    CallId, Decision, Effect, Ending, Event, FileEdit, Intent, Journal, Judge, Kind, Plan,
    PlanEntry, PlanStatus, Prepared, Priority, Question, QuestionId, Remembered, RuleName,
    SessionId, Ticket, Timestamp,
};
use toolcall_history::{
    Archive, CallFilter, ExportLine, ExportScope, SessionEvent, SessionFacts, Speaker,
};

use crate::setup::{TestHistory, announced, clock, decided, finished, session, write};

/// Records a small session: a read, an edit with a question, a denied command, and a call still open.
fn recorded_session() -> (TestHistory, Arc<toolcall_history::History>) {
    let files = TestHistory::default();
    let history = files.open();
    let facts = SessionFacts {
        agent: "agent".into(),
        client: "editor".into(),
        cwd: "/work".into(),
        ..SessionFacts::default()
    };
    drop(history.record(&session(), SessionEvent::Opened(facts)));
    let journal = Journal::new(session())
        .with_clock(clock())
        .with_store(history.clone());
    read(&journal);
    asked(&journal);
    denied(&journal);
    let begun = journal.announce(
        &CallId::new("open"),
        announced("fetch", json!({})),
        Ticket::default(),
    );
    assert_eq!(begun, Ok(()));
    (files, history)
}

fn prepare(journal: &Journal, id: &str, tool: &str, intent: Intent) -> (CallId, Arc<Prepared>) {
    let id = CallId::new(id);
    let input = json!({ "for": tool });
    let begun = journal.announce(&id, announced(tool, input.clone()), Ticket::default());
    assert_eq!(begun, Ok(()));
    let prepared = Arc::new(Prepared {
        input: Arc::new(input),
        intent,
    });
    write(journal, &id, Event::Prepared(prepared.clone()));
    (id, prepared)
}

fn read(journal: &Journal) {
    let intent = Intent::new(Kind::Read, "Read main.rs").reading("/work/src/main.rs");
    let (id, _) = prepare(journal, "read", "read_file", intent);
    write(journal, &id, decided(Effect::Allow, "reads"));
    write(journal, &id, Event::Started);
    write(
        journal,
        &id,
        finished(Ending::Completed, "fn main() with a crab"),
    );
}

fn asked(journal: &Journal) {
    let edit = FileEdit::modified("/work/src/lib.rs", "old", "new");
    let intent = Intent::new(Kind::Edit, "Edit lib.rs").editing(edit);
    let (id, subject) = prepare(journal, "edit", "edit_file", intent);
    let question = Question {
        id: QuestionId::new("q"),
        session: session(),
        call: id.clone(),
        subject,
        offers: Vec::new(),
        because: RuleName::new("ask-writes"),
    };
    write(journal, &id, Event::Asked(Arc::new(question)));
    let yes = Decision {
        question: Some(QuestionId::new("q")),
        effect: Effect::Allow,
        by: Judge::Person(Remembered::Once),
    };
    write(journal, &id, Event::Decided(Arc::new(yes)));
    write(journal, &id, Event::Started);
    write(
        journal,
        &id,
        finished(Ending::failed("the file is locked"), ()),
    );
}

fn denied(journal: &Journal) {
    let intent = Intent::new(Kind::Execute, "Run rm");
    let (id, _) = prepare(journal, "rm", "run_command", intent);
    write(journal, &id, decided(Effect::Deny, "no-rm"));
    write(journal, &id, finished(Ending::denied("never"), ()));
}

fn ids(archive: &Archive, filter: CallFilter) -> Vec<String> {
    let calls = archive.calls(&filter).expect("calls");
    calls.iter().map(|call| call.id.to_string()).collect()
}

#[test]
fn calls_are_found_by_every_filter() {
    let (_files, history) = recorded_session();
    let archive = history.archive().expect("an archive");
    let find = |filter: CallFilter| ids(&archive, filter);
    assert_eq!(find(CallFilter::default()), ["open", "rm", "edit", "read"]);
    let by_tool = |tool: &str| CallFilter {
        tool: Some(tool.into()),
        ..CallFilter::default()
    };
    assert_eq!(find(by_tool("edit_file")), ["edit"]);
    assert_eq!(find(by_tool("nothing")), [] as [&str; 0]);
    let by_kind = CallFilter {
        kind: Some(Kind::Execute),
        ..CallFilter::default()
    };
    assert_eq!(find(by_kind), ["rm"]);
    let by_status = |status: &str| CallFilter {
        status: Some(status.into()),
        ..CallFilter::default()
    };
    assert_eq!(find(by_status("denied")), ["rm"]);
    assert_eq!(find(by_status("announced")), ["open"]);
    let by_path = |path: &str| CallFilter {
        path: Some(path.into()),
        ..CallFilter::default()
    };
    assert_eq!(find(by_path("/work/src/lib.rs")), ["edit"]);
    assert_eq!(find(by_path("/work/src")), ["edit", "read"]);
    assert_eq!(find(by_path("/work/sr")), [] as [&str; 0]);
    let by_text = |text: &str| CallFilter {
        text: Some(text.into()),
        ..CallFilter::default()
    };
    assert_eq!(find(by_text("crab")), ["read"]);
    assert_eq!(find(by_text("main crab")), ["read"]);
    assert_eq!(find(by_text("crab \"OR\" lib")), [] as [&str; 0]);
    assert_eq!(find(by_text("\" AND (")), [] as [&str; 0]);
    let by_session = CallFilter {
        session: Some(SessionId::new("another")),
        ..CallFilter::default()
    };
    assert_eq!(find(by_session), [] as [&str; 0]);
    let two = CallFilter {
        limit: Some(2),
        ..CallFilter::default()
    };
    assert_eq!(find(two), ["open", "rm"]);
}

#[test]
fn calls_are_found_by_time() {
    let (_files, history) = recorded_session();
    let archive = history.archive().expect("an archive");
    let edit = &archive.calls(&CallFilter::default()).expect("calls")[2];
    let from = CallFilter {
        from: Some(edit.announced),
        ..CallFilter::default()
    };
    assert_eq!(ids(&archive, from), ["open", "rm", "edit"]);
    let until = CallFilter {
        until: Some(edit.announced),
        ..CallFilter::default()
    };
    assert_eq!(ids(&archive, until), ["read"]);
}

#[test]
fn one_call_is_returned_with_its_questions_and_waiting_times() {
    let (_files, history) = recorded_session();
    let archive = history.archive().expect("an archive");
    let call_history = archive
        .call(&session(), &CallId::new("edit"))
        .expect("a call");
    let names: Vec<_> = call_history
        .records
        .iter()
        .map(|record| record.event.name())
        .collect();
    let expected = [
        "announced",
        "prepared",
        "asked",
        "decided",
        "started",
        "finished",
    ];
    assert_eq!(names, expected);
    assert_eq!(call_history.line.waited, Duration::from_millis(1));
    assert_eq!(call_history.line.judge.as_deref(), Some("person"));
    let [question] = &*call_history.questions else {
        panic!("one question was asked: {:?}", call_history.questions);
    };
    let waited = question
        .answered
        .map(|answered| answered.since(question.asked));
    assert_eq!(waited, Some(Duration::from_millis(1)));
    assert_eq!(
        (&*question.because, question.effect),
        ("ask-writes", Some(Effect::Allow))
    );
    let call = toolcall::replay(&call_history.records)
        .pop()
        .expect("it folds");
    assert_eq!(call.ending(), Some(&Ending::failed("the file is locked")));
    let sessions = archive.sessions_of(&CallId::new("edit"));
    assert_eq!(sessions, Ok(vec![session()]));
    let missing = archive.call(&session(), &CallId::new("nobody"));
    expect!["there is no call `nobody` of `session` in the history"]
        .assert_eq(&missing.expect_err("no such call").to_string());
}

#[test]
fn sessions_are_returned_with_their_turns_messages_and_plans() {
    let (_files, history) = recorded_session();
    let plan = Plan {
        entries: vec![PlanEntry {
            content: "Sleep".into(),
            status: PlanStatus::Pending,
            priority: Priority::Low,
        }],
    };
    let events = [
        SessionEvent::TurnBegan,
        SessionEvent::Said {
            by: Speaker::Person,
            text: "Good morning".into(),
        },
        SessionEvent::Planned(plan),
        SessionEvent::TurnEnded {
            stop: "end_turn".into(),
        },
    ];
    for event in &events {
        drop(history.record(&session(), event.clone()));
    }
    let archive = history.archive().expect("an archive");
    let events_read = archive.session_events(&session()).expect("events");
    let events_read: Vec<SessionEvent> = events_read.into_iter().map(|(_, event)| event).collect();
    assert_eq!(events_read[1..], events);
    let sessions = archive.sessions().expect("sessions");
    let [line] = &*sessions else {
        panic!("one session: {sessions:?}");
    };
    assert_eq!(
        (&*line.agent, &*line.client, &*line.cwd),
        ("agent", "editor", "/work")
    );
    assert_eq!((line.calls, line.records), (4, 21));
    assert!(line.began < Timestamp::from_micros(1_800_000_000_000_000));
}

#[test]
fn an_export_has_one_line_a_record_with_every_text_in_its_place() {
    let (_files, history) = recorded_session();
    let long = "long ".repeat(2000);
    let said = SessionEvent::Said {
        by: Speaker::Agent,
        text: long.as_str().into(),
    };
    drop(history.record(&session(), said));
    let archive = history.archive().expect("an archive");
    let mut out = Vec::new();
    let extent = ExportScope::Session(session());
    assert_eq!(archive.export(&extent, &mut out).expect("an export"), 18);
    let text = String::from_utf8(out).expect("text");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| line.parse().expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 18);
    expect![[r#"{"decided":{"effect":"deny","by":{"rule":"no-rm"}}}"#]]
        .assert_eq(&lines[14]["body"].to_string());
    assert_eq!(lines[17]["body"]["said"]["text"], long);
    let keys: Vec<&String> = lines[14].as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        ["session", "seq", "at", "call", "event", "body", "hash"]
    );
    let nobody = ExportScope::Session(SessionId::new("nobody"));
    assert_eq!(
        archive.export(&nobody, &mut Vec::new()).expect("an export"),
        0
    );
}

#[test]
fn an_export_is_read_back_as_it_was_recorded() {
    let (_files, history) = recorded_session();
    let archive = history.archive().expect("an archive");
    let mut out = Vec::new();
    let exported = archive.export(&ExportScope::Everything, &mut out);
    exported.expect("an export");
    let text = String::from_utf8(out).expect("text");
    let (mut records, mut events) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match ExportLine::read(line).expect("a line of an export") {
            ExportLine::Call(record) => records.push(record),
            ExportLine::Session { at, event, .. } => events.push((at, event)),
        }
    }
    assert_eq!(Ok(records), archive.records(&session()));
    assert_eq!(Ok(events), archive.session_events(&session()));
    let error = ExportLine::read("{}").expect_err("no line of an export");
    assert!(error.to_string().contains("missing field"), "{error}");
}
