//! Replay equals live: records read from the file fold to the same calls.
//! The random events are those of the core's own test; they hold no secrets and no text over a limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use toolcall::{
    Announced, CallId, Ending, Event, Finish, Journal, SessionId, Store, Ticket, ToolCall,
    ToolResult, replay,
};
use toolcall_testkit::events::{any_announced, any_event};

use crate::setup::{TestHistory, clock, session};

type Calls = HashMap<CallId, ToolCall>;

fn write_events(script: &(Vec<Announced>, Vec<(usize, Event)>), journal: &Journal) {
    let (announced, writes) = script;
    let id = |number: usize| CallId::new(format!("call-{number}"));
    for (number, announced) in announced.iter().enumerate() {
        let begun = journal.announce(&id(number), announced.clone(), Ticket::default());
        assert_eq!(begun, Ok(()));
    }
    for (number, event) in writes {
        let _may_be_irregular = journal.write(&id(*number), event.clone());
    }
    for open in journal.open_calls() {
        let ending = Ending::interrupted("over");
        let end = journal.finish(open.id(), ending, ToolResult::default());
        assert!(end.is_ok());
    }
}

fn calls_when_live(
    session: SessionId,
    store: impl Store,
    script: &(Vec<Announced>, Vec<(usize, Event)>),
) -> Calls {
    let ended: Arc<Mutex<Calls>> = Arc::default();
    let seen = ended.clone();
    let journal = Journal::new(session)
        .with_clock(clock())
        .with_store(store)
        .with_reader(move |call: &ToolCall, event: &Event| {
            if let Event::Finished(_) = event {
                seen.lock()
                    .expect("a lock")
                    .insert(call.id().clone(), call.clone());
            }
        });
    write_events(script, &journal);
    drop(journal);
    Arc::into_inner(ended)
        .expect("nobody else")
        .into_inner()
        .expect("a lock")
}

fn by_id(calls: Vec<ToolCall>) -> Calls {
    let named = |call: ToolCall| (call.id().clone(), call);
    calls.into_iter().map(named).collect()
}

/// Returns whether an output has, where it was cut, what may be part of a key and is masked: a word of four
/// characters, or the dashes that a private key begins with.
fn prints_half_a_key(writes: &[(usize, Event)]) -> bool {
    let is_half_a_key = |finish: &Finish| {
        let [head, front, back] = finish.output.pieces();
        let is_word = |four: &[u8]| four.iter().all(u8::is_ascii_graphic);
        [head.to_vec(), [front, back].concat()]
            .iter()
            .any(|piece| piece.contains(&b'-') || piece.windows(4).any(is_word))
    };
    writes.iter().any(|(_, event)| match event {
        Event::Finished(finish) => is_half_a_key(finish),
        _ => false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_read_back_equals_what_was_lived(
        script in (vec(any_announced(), 1..6), vec((0..6_usize, any_event()), 0..120)),
    ) {
        prop_assume!(!prints_half_a_key(&script.1));
        let files = TestHistory::default();
        let history = files.open();
        let live_calls = calls_when_live(session(), history.clone(), &script);
        let replayed = replay(&history.load(&session()).expect("records"));
        prop_assert_eq!(replayed.len(), script.0.len());
        prop_assert_eq!(by_id(replayed), live_calls);
        let archive = history.archive().expect("an archive");
        prop_assert_eq!(archive.integrity(), Ok(()));
    }

    /// Opens the history again after every few events, so that open calls are folded from the file.
    #[test]
    fn a_history_that_is_opened_again_goes_on_where_it_was(
        script in (vec(any_announced(), 1..4), vec((0..4_usize, any_event()), 0..40)),
    ) {
        prop_assume!(!prints_half_a_key(&script.1));
        let files = TestHistory::default();
        let memory = Arc::new(toolcall::MemoryStore::default());
        calls_when_live(session(), memory.clone(), &script);
        let records = memory.load(&session()).expect("records");
        // Histories that stay open keep their open calls from being ended as orphaned.
        let mut opened = Vec::new();
        for some in records.chunks(3) {
            let history = files.open();
            some.iter().for_each(|record| drop(history.append(record.clone())));
            history.flush().expect("it is written");
            opened.push(history);
        }
        let archive = files.archive();
        let read = archive.records(&session()).expect("records");
        prop_assert_eq!(read, records);
    }
}
