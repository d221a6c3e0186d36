//! What a journal stores and sends: replayed records equal the original calls.
//! It must not use the journal's internals; it writes, reads and follows like any program.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::oneshot;
use toolcall::{
    Announced, CallId, Content, Decision, Effect, Ending, Event, Finish, InputGrowth, Journal,
    Judge, MemoryStore, Output, Progress, Receipt, Record, SessionId, Sketch, Store, StoreError,
    Ticket, ToolCall, ToolResult, replay,
};
use toolcall_testkit::clock::TestClock;

use toolcall_testkit::events::{any_announced, any_event};

fn session() -> SessionId {
    SessionId::new("session")
}

fn call_id(number: usize) -> CallId {
    CallId::new(format!("call-{number}"))
}

/// Calls as they were when they ended.
#[derive(Clone, Default)]
struct EndedCalls(Arc<Mutex<HashMap<CallId, ToolCall>>>);

impl EndedCalls {
    fn reader(&self) -> impl FnMut(&ToolCall, &Event) + Send + 'static {
        let ended = self.clone();
        move |call, event| {
            if let Event::Finished(_) = event {
                let mut calls = ended.0.lock().expect("a lock");
                calls.insert(call.id().clone(), call.clone());
            }
        }
    }

    fn calls(&self) -> HashMap<CallId, ToolCall> {
        self.0.lock().expect("a lock").clone()
    }
}

/// The events of several calls at the same time.
#[derive(Clone, Debug)]
struct SessionHistory {
    announced: Vec<Announced>,
    writes: Vec<(usize, Event)>,
}

fn any_session_history() -> impl Strategy<Value = SessionHistory> {
    let announced = vec(any_announced(), 1..6);
    let writes = vec((0..6_usize, any_event()), 0..120);
    (announced, writes).prop_map(|(announced, writes)| SessionHistory { announced, writes })
}

/// Writes a history, including events out of place, and ends every call that is still open.
fn write_history(history: &SessionHistory, journal: &Journal) {
    for (number, announced) in history.announced.iter().enumerate() {
        let begun = journal.announce(&call_id(number), announced.clone(), Ticket::default());
        assert_eq!(begun, Ok(()));
    }
    for (number, event) in &history.writes {
        let _regular_or_not = journal.write(&call_id(*number), event.clone());
    }
    for open in journal.open_calls() {
        let end = journal.finish(
            open.id(),
            Ending::interrupted("over"),
            ToolResult::default(),
        );
        assert!(end.is_ok());
    }
}

fn by_id(calls: Vec<ToolCall>) -> HashMap<CallId, ToolCall> {
    let named = |call: ToolCall| (call.id().clone(), call);
    calls.into_iter().map(named).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn replayed_calls_equal_the_calls_as_they_were_written(history in any_session_history()) {
        let (store, ended) = (Arc::new(MemoryStore::default()), EndedCalls::default());
        let journal = Journal::new(session())
            .with_clock(TestClock::ticking(0, 1))
            .with_store(store.clone())
            .with_reader(ended.reader());
        write_history(&history, &journal);
        let replayed = replay(&store.load(&session()).expect("records"));
        prop_assert_eq!(replayed.len(), history.announced.len());
        prop_assert_eq!(by_id(replayed), ended.calls());
    }

    #[test]
    fn records_have_a_place_when_they_are_replayed(history in any_session_history()) {
        let store = Arc::new(MemoryStore::default());
        let journal = Journal::new(session())
            .with_clock(TestClock::ticking(0, 1))
            .with_store(store.clone());
        write_history(&history, &journal);
        let mut calls: HashMap<CallId, ToolCall> = HashMap::new();
        for record in store.load(&session()).expect("records") {
            match calls.get_mut(&record.call) {
                Some(call) => prop_assert_eq!(call.apply(&record.event, record.at), Ok(())),
                None => drop(calls.insert(record.call.clone(), only(&record))),
            }
        }
    }
}

fn only(record: &Record) -> ToolCall {
    let mut calls = replay(std::slice::from_ref(record));
    calls.pop().expect("a first record announces")
}

fn announced() -> Announced {
    Announced {
        tool: "tool".into(),
        model_id: None,
        parent: None,
        input: None,
        outline: toolcall::Outline::default(),
    }
}

fn allowed() -> Event {
    Event::Decided(Arc::new(Decision {
        question: None,
        effect: Effect::Allow,
        by: Judge::Unseen,
    }))
}

fn grew(bytes: u64) -> Event {
    Event::InputGrew(InputGrowth {
        bytes,
        sketch: Arc::new(Sketch::default()),
    })
}

fn finished(ending: Ending) -> Event {
    Event::Finished(Arc::new(Finish {
        ending,
        result: ToolResult::default(),
        output: Arc::new(Output::default()),
    }))
}

fn begin(journal: &Journal) -> CallId {
    let id = call_id(0);
    let begun = journal.announce(&id, announced(), Ticket::default());
    assert_eq!(begun, Ok(()));
    id
}

fn write(journal: &Journal, id: &CallId, event: Event) -> Receipt {
    journal.write(id, event).expect("it has a place")
}

fn names(records: &[Record]) -> Vec<&'static str> {
    records.iter().map(|record| record.event.name()).collect()
}

#[test]
fn however_much_passes_a_few_records_are_stored() {
    let store = Arc::new(MemoryStore::default());
    let journal = Journal::new(session()).with_store(store.clone());
    let id = begin(&journal);
    for bytes in 0..1000 {
        write(&journal, &id, grew(bytes));
    }
    write(&journal, &id, Event::InputArrived(json!({}).into()));
    write(&journal, &id, allowed());
    write(&journal, &id, Event::Started);
    for step in 0..1000 {
        let progress = Progress::at(f64::from(step)).of(1000.0);
        write(&journal, &id, Event::Progressed(progress));
        write(
            &journal,
            &id,
            Event::Showed([Content::text(step.to_string())].into()),
        );
    }
    write(&journal, &id, finished(Ending::Completed));
    let records = store.load(&session()).expect("records");
    let expected = [
        "announced",
        "input grew",
        "input arrived",
        "decided",
        "started",
        "progressed",
        "showed",
        "finished",
    ];
    assert_eq!(names(&records), expected);
    let call = replay(&records).pop().expect("a call");
    assert_eq!(call.input_growth().map(|growth| growth.bytes), Some(999));
    assert_eq!(call.progress(), Some(&Progress::at(999.0).of(1000.0)));
    assert_eq!(call.shown(), Some(&[Content::text("999")].into()));
}

/// A foreign call without a recorded start reports progress, is paused, and ends.
#[test]
fn progress_under_an_unknown_status_survives_a_pause() {
    let (store, ended) = (Arc::new(MemoryStore::default()), EndedCalls::default());
    let journal = Journal::new(session())
        .with_store(store.clone())
        .with_reader(ended.reader());
    let id = begin(&journal);
    write(&journal, &id, Event::StatusUnknown("warming up".into()));
    write(&journal, &id, Event::Progressed(Progress::at(1.0).of(2.0)));
    write(&journal, &id, Event::Held("paused".into()));
    write(&journal, &id, finished(Ending::failed("no")));
    let replayed = replay(&store.load(&session()).expect("records"));
    assert_eq!(by_id(replayed), ended.calls());
}

#[test]
fn sessions_are_kept_apart() {
    let store = Arc::new(MemoryStore::default());
    for name in ["one", "two"] {
        let journal = Journal::new(SessionId::new(name)).with_store(store.clone());
        begin(&journal);
    }
    let load = |name: &str| store.load(&SessionId::new(name)).expect("records").len();
    assert_eq!([load("one"), load("two"), load("three")], [1, 1, 0]);
}

#[test]
fn records_without_their_announcement_are_skipped() {
    let store = Arc::new(MemoryStore::default());
    let journal = Journal::new(session()).with_store(store.clone());
    let id = begin(&journal);
    write(&journal, &id, allowed());
    let records = store.load(&session()).expect("records");
    assert_eq!(replay(&records[1..]), []);
}

/// Writes more than a follower's capacity before the follower reads.
#[tokio::test]
async fn a_follower_that_never_reads_learns_how_many_it_missed() {
    let journal = Journal::new(session());
    let mut idle = journal.follow(8);
    let id = begin(&journal);
    write(&journal, &id, allowed());
    write(&journal, &id, Event::Started);
    for step in 0..97 {
        write(&journal, &id, Event::Progressed(Progress::at(step.into())));
    }
    assert!(matches!(idle.recv().await, Err(RecvError::Lagged(92))));
    for step in 89..97 {
        let shown = idle.recv().await.expect("the latest are still there");
        assert_eq!(shown.event, Event::Progressed(Progress::at(step.into())));
    }
    assert!(matches!(idle.try_recv(), Err(TryRecvError::Empty)));
}

#[tokio::test]
async fn a_follower_sees_the_call_as_it_was_after_each_event() {
    let journal = Journal::new(session()).with_clock(TestClock::ticking(0, 1));
    let mut follower = journal.follow(8);
    let id = begin(&journal);
    let begun = journal.call(&id).expect("an open call");
    write(&journal, &id, allowed());
    let decided = journal.call(&id).expect("an open call");
    for call in [begun, decided] {
        assert_eq!(follower.recv().await.expect("an event").call, call);
    }
}

#[test]
fn a_reader_that_panics_is_dropped_and_the_others_go_on() {
    let seen = Arc::new(Mutex::new((0, Vec::new())));
    let (clumsy, steady) = (seen.clone(), seen.clone());
    let journal = Journal::new(session())
        .with_reader(move |_: &ToolCall, _: &Event| {
            clumsy.lock().expect("a lock").0 += 1;
            std::panic::panic_any("a reader fell over");
        })
        .with_reader(move |_: &ToolCall, event: &Event| {
            steady.lock().expect("a lock").1.push(event.name());
        });
    let id = begin(&journal);
    write(&journal, &id, allowed());
    write(&journal, &id, finished(Ending::failed("no")));
    let seen = seen.lock().expect("a lock");
    assert_eq!(*seen, (1, vec!["announced", "decided", "finished"]));
}

/// A store whose receipts are resolved later, by the test.
#[derive(Default)]
struct DeferredStore(Mutex<Vec<oneshot::Sender<Result<(), StoreError>>>>);

impl DeferredStore {
    fn pending(&self) -> Vec<oneshot::Sender<Result<(), StoreError>>> {
        std::mem::take(&mut *self.0.lock().expect("a lock"))
    }
}

impl Store for DeferredStore {
    fn append(&self, _record: Record) -> Receipt {
        let (sender, receiver) = oneshot::channel();
        self.0.lock().expect("a lock").push(sender);
        Receipt::later(receiver)
    }

    fn load(&self, _session: &SessionId) -> Result<Vec<Record>, StoreError> {
        Ok(Vec::new())
    }
}

fn full() -> StoreError {
    StoreError {
        reason: "the disk is full".into(),
    }
}

fn gone() -> StoreError {
    StoreError {
        reason: "the store went away".into(),
    }
}

/// Writes an event to a deferred store; returns its receipt and the sender that resolves it.
fn write_slowly(event: Event) -> (Receipt, oneshot::Sender<Result<(), StoreError>>) {
    let store = Arc::new(DeferredStore::default());
    let journal = Journal::new(session()).with_store(store.clone());
    let id = begin(&journal);
    drop(store.pending());
    let receipt = write(&journal, &id, event);
    let pending = store.pending().pop().expect("one record was appended");
    (receipt, pending)
}

#[tokio::test]
async fn a_receipt_waits_for_the_store() {
    let (receipt, pending) = write_slowly(allowed());
    let mut waiting = std::pin::pin!(receipt.wait());
    tokio::select! {
        biased;
        early = &mut waiting => panic!("not safe yet: {early:?}"),
        () = tokio::task::yield_now() => {}
    }
    pending.send(Ok(())).expect("somebody waits");
    assert_eq!(waiting.await, Ok(()));
}

#[tokio::test]
async fn a_receipt_says_what_the_store_says() {
    let (receipt, pending) = write_slowly(allowed());
    pending.send(Err(full())).expect("somebody waits");
    assert_eq!(receipt.wait().await, Err(full()));
}

#[tokio::test]
async fn a_store_that_went_away_kept_nothing() {
    let (receipt, pending) = write_slowly(allowed());
    drop(pending);
    assert_eq!(receipt.wait().await, Err(gone()));
}

#[tokio::test]
async fn the_receipt_of_an_ending_is_the_stores_too() {
    let (receipt, pending) = write_slowly(finished(Ending::failed("no")));
    pending.send(Err(full())).expect("somebody waits");
    assert_eq!(receipt.wait().await, Err(full()));
}

#[tokio::test]
async fn receipts_can_be_settled_from_the_start() {
    assert_eq!(Receipt::safe().wait().await, Ok(()));
    let refused = Receipt::refused("the disk is full");
    assert_eq!(refused.wait().await, Err(full()));
}
