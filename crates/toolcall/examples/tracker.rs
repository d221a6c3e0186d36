//! An agent that judges and runs its own tools, and records its calls.
//! The tracker only records; a call that is dropped has failed.

use std::sync::Arc;

use serde_json::json;
use toolcall::{CallIds, Event, Journal, Progress, SessionId, ToolCall, Tracker};

fn print(call: &ToolCall, event: &Event) {
    let ending = call.ending().map(|ending| format!("{ending:?}"));
    println!(
        "{} {}: {} {}",
        call.id(),
        call.title(),
        event.name(),
        ending.unwrap_or_default()
    );
}

fn main() {
    let journal = Journal::new(SessionId::new("example")).with_reader(print);
    let tracker = Tracker::new(Arc::new(journal), Arc::new(CallIds::new("call")));

    let download = tracker.start("download", json!({"url": "https://example.com/data.csv"}));
    download.progress(Progress::at(1.0).of(2.0).saying("first half"));
    download.print("1,2,3\n");
    download.finish(Ok("2 lines"));

    let import = tracker.start("import", json!({"path": "/data/data.csv"}));
    import.progress(Progress::at(10.0));
    drop(import);
}
