//! Tracked calls of an agent that runs its own tools, and the usage log.
//! It must read only the journal and the lines that were written.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcall::{
    CallId, CallIds, Content, Decision, Effect, Ending, Event, Irregularity, Journal, Judge, Kind,
    Origin, OutputBudget, Progress, SessionId, Status, Ticket, ToolCall, ToolError, ToolResult,
    Tracker, UsageLog,
};
use toolcall_testkit::clock::TestClock;

/// A writer into a shared buffer.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a lock").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedBuffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("a lock").clone()).expect("text")
    }

    fn lines(&self) -> Vec<Value> {
        let read = |line: &str| serde_json::from_str(line).expect("a line is JSON");
        self.text().lines().map(read).collect()
    }
}

type RecordedEvents = Arc<Mutex<Vec<(ToolCall, Event)>>>;

/// Returns a tracker, its journal, and the events that the journal sends.
fn tracker() -> (Tracker, Arc<Journal>, RecordedEvents) {
    let recorded = RecordedEvents::default();
    let shown = recorded.clone();
    let journal = Journal::new(SessionId::new("session"))
        .with_clock(TestClock::ticking(0, 1000))
        .with_budget(OutputBudget { head: 8, tail: 8 })
        .with_reader(move |call: &ToolCall, event: &Event| {
            shown
                .lock()
                .expect("a lock")
                .push((call.clone(), event.clone()));
        });
    let journal = Arc::new(journal);
    let tracker = Tracker::new(journal.clone(), Arc::new(CallIds::new("call")));
    (tracker, journal, recorded)
}

fn names(recorded: &RecordedEvents) -> Vec<&'static str> {
    let recorded = recorded.lock().expect("a lock");
    recorded.iter().map(|(_, event)| event.name()).collect()
}

fn last(recorded: &RecordedEvents) -> ToolCall {
    let recorded = recorded.lock().expect("a lock");
    recorded
        .last()
        .map(|(call, _)| call.clone())
        .expect("an event")
}

#[test]
fn a_tracked_call_goes_through_a_whole_life() {
    let (tracker, journal, recorded) = tracker();
    let call = tracker.start("read_file", json!({"path": "/a.txt"}));
    assert_eq!(last(&recorded).status(), Status::Running);
    call.progress(Progress::at(1.0).of(2.0));
    call.print("half");
    call.hold("waiting for the disk");
    assert_eq!(last(&recorded).status(), Status::Held);
    call.resume();
    call.finish(Ok("done"));
    let expected = [
        "announced",
        "prepared",
        "decided",
        "started",
        "progressed",
        "printed",
        "held",
        "resumed",
        "finished",
    ];
    assert_eq!(names(&recorded), expected);
    assert_eq!(journal.open_calls(), []);
}

#[test]
fn a_tracked_call_keeps_what_it_did() {
    let (tracker, _journal, recorded) = tracker();
    let call = tracker.start("read_file", json!({"path": "/a.txt"}));
    call.print("half");
    call.finish(Ok("done"));
    let ended = last(&recorded);
    let finish = ended.finish().expect("it ended");
    assert_eq!(
        (ended.id(), ended.kind()),
        (&CallId::new("call-1"), Kind::Read)
    );
    assert_eq!(ended.output().text(), "half");
    assert_eq!(
        (&finish.ending, &finish.result),
        (&Ending::Completed, &ToolResult::from("done"))
    );
}

/// The agent allowed it, where the library cannot see it.
#[test]
fn a_tracked_call_was_decided_unseen() {
    let (tracker, _journal, recorded) = tracker();
    let _call = tracker.start("run", json!({"command": "ls"}));
    let running = last(&recorded);
    let unseen = Decision {
        question: None,
        effect: Effect::Allow,
        by: Judge::Unseen,
    };
    assert_eq!(
        running.decision().map(|decision| &**decision),
        Some(&unseen)
    );
    let prepared = running.prepared_as().expect("it was prepared");
    assert_eq!(prepared.intent.tool.origin, Origin::Agent);
}

#[test]
fn a_tracked_call_that_is_dropped_has_failed() {
    let (tracker, journal, recorded) = tracker();
    drop(tracker.start("run", json!({})));
    let given_up = Ending::failed("it was given up without a result");
    assert_eq!(last(&recorded).ending(), Some(&given_up));
    assert_eq!(journal.open_calls(), []);
}

#[test]
fn a_tracked_call_that_failed_keeps_its_reason_and_result() {
    let (tracker, _journal, recorded) = tracker();
    let error = ToolError::new("no such file").with("partly");
    tracker.start("read", json!({})).finish(Err::<(), _>(error));
    let ended = last(&recorded);
    let finish = ended.finish().expect("it ended");
    let expected = (&Ending::failed("no such file"), &ToolResult::from("partly"));
    assert_eq!((&finish.ending, &finish.result), expected);
}

#[test]
fn a_tracked_result_is_made_to_fit() {
    let (tracker, _journal, recorded) = tracker();
    tracker
        .start("read", json!({}))
        .finish(Ok("0123456789abcdefgh"));
    let ended = last(&recorded);
    let content = &ended.finish().expect("it ended").result.content;
    let cut = Content::text("01234567\n… 2 bytes left out …\nabcdefgh");
    assert_eq!(content, &[cut]);
}

#[test]
fn a_tracked_call_that_was_ended_elsewhere_stays_ended() {
    let (tracker, journal, recorded) = tracker();
    let call = tracker.start("run", json!({}));
    let id = call.id().clone();
    let ended = journal.finish(&id, Ending::interrupted("lost"), ToolResult::default());
    call.progress(Progress::at(1.0));
    call.finish(Ok("late"));
    assert_eq!(Ok(Arc::new(last(&recorded))), ended);
}

#[test]
fn tracked_calls_live_side_by_side() {
    let (tracker, journal, _seen) = tracker();
    let calls = [(); 3].map(|()| tracker.start("run", json!({})));
    let ids = calls.each_ref().map(|call| call.id().to_string());
    assert_eq!(ids, ["call-1", "call-2", "call-3"]);
    assert_eq!(journal.open_calls().len(), 3);
    drop(calls);
    assert_eq!(journal.open_calls(), []);
}

/// Runs a scenario with a usage log, and waits for the log by dropping the journal.
fn logged(scenario: impl FnOnce(&Tracker, &Arc<Journal>)) -> SharedBuffer {
    let buffer = SharedBuffer::default();
    let journal = Journal::new(SessionId::new("session"))
        .with_clock(TestClock::ticking(0, 1000))
        .with_reader(UsageLog::new(buffer.clone()));
    let journal = Arc::new(journal);
    scenario(
        &Tracker::new(journal.clone(), Arc::new(CallIds::new("call"))),
        &journal,
    );
    drop(journal);
    buffer
}

#[test]
fn one_line_is_logged_for_every_call_that_ended() {
    let buffer = logged(|tracker, _| {
        let call = tracker.start("read_file", json!({}));
        call.progress(Progress::at(1.0));
        call.finish(Ok("done"));
        let failed = ToolError::new("no");
        tracker
            .start("write_file", json!({}))
            .finish(Err::<(), _>(failed));
    });
    let line = |tool, duration_ms, success, ending| {
        json!({"event": "tool_used", "tool": tool, "duration_ms": duration_ms,
               "success": success, "ending": ending})
    };
    let expected = [
        line("read_file", 2, true, "completed"),
        line("write_file", 1, false, "failed"),
    ];
    assert_eq!(buffer.lines(), expected);
    assert!(buffer.text().ends_with('\n'));
}

#[test]
fn calls_that_never_ran_are_logged_with_no_time() {
    let buffer = logged(|_, journal| {
        let id = CallId::new("call");
        let announced = toolcall::Announced {
            tool: "nobody\nhas_it".into(),
            model_id: None,
            parent: None,
            input: None,
            outline: toolcall::Outline::default(),
        };
        let begun = journal.announce(&id, announced, Ticket::default());
        assert_eq!(begun, Ok::<(), Irregularity>(()));
        let denied = journal.finish(&id, Ending::denied("no"), ToolResult::default());
        assert!(denied.is_ok());
    });
    let line = json!({"event": "tool_used", "tool": "nobody\nhas_it", "duration_ms": 0,
                      "success": false, "ending": "denied"});
    assert_eq!(buffer.lines(), [line]);
}

/// A writer that always fails.
struct BrokenWriter;

impl Write for BrokenWriter {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no room"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_that_cannot_be_written_holds_nobody_up() {
    let journal = Journal::new(SessionId::new("session")).with_reader(UsageLog::new(BrokenWriter));
    let journal = Arc::new(journal);
    let tracker = Tracker::new(journal.clone(), Arc::new(CallIds::new("call")));
    for _ in 0..3000 {
        tracker.start("run", json!({})).finish(Ok("done"));
    }
    assert_eq!(journal.open_calls(), []);
}

/// A writer that blocks on the first line until it is released.
struct BlockedWriter {
    word: std::sync::mpsc::Receiver<()>,
    buffer: SharedBuffer,
}

impl Write for BlockedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _given_or_over = self.word.recv();
        self.buffer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The writer blocks while many calls end; then it is released, and one more call ends.
#[test]
fn a_log_that_falls_behind_says_how_many_lines_it_lost() {
    let (buffer, (give, word)) = (SharedBuffer::default(), std::sync::mpsc::sync_channel(1));
    let stuck = BlockedWriter {
        word,
        buffer: buffer.clone(),
    };
    let journal = Journal::new(SessionId::new("session")).with_reader(UsageLog::new(stuck));
    let journal = Arc::new(journal);
    let tracker = Tracker::new(journal.clone(), Arc::new(CallIds::new("call")));
    for _ in 0..1500 {
        tracker.start("run", json!({})).finish(Ok("done"));
    }
    drop(give);
    while buffer.lines_so_far() < 1024 {
        std::thread::yield_now();
    }
    tracker.start("run", json!({})).finish(Ok("done"));
    drop((tracker, journal));
    let lines = buffer.lines();
    let lost = lines
        .last()
        .and_then(|line| line["lost"].as_u64())
        .expect("some were lost");
    assert_eq!(lines.len() as u64 + lost, 1501);
}

impl SharedBuffer {
    fn lines_so_far(&self) -> usize {
        let bytes = self.0.lock().expect("a lock");
        bytes.iter().filter(|byte| **byte == b'\n').count()
    }
}
