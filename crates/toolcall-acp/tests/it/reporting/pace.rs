//! How often reports are sent: growing content at a pace, statuses at once.
//! The clock is the runtime's, so times can be compared exactly.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};
use toolcall::*;

use crate::golden::line::Line;
use crate::reporting::fixture::{ClientBehavior, SessionFixture, known, only, work};

const PROGRESS: &str = "/params/update/_meta/toolcall~1progress/current";

#[tokio::test(start_paused = true)]
async fn ten_thousand_steps_in_a_second_are_reported_about_ten_times() {
    let tools = only(Kind::Other, |_: Arc<Value>, scope: RunContext| async move {
        for step in 1..=10_000_u32 {
            scope.progress(Progress::at(step.into()).of(10_000.0));
            if step % 10 == 0 {
                sleep(Duration::from_millis(1)).await;
            }
        }
        Ok("done")
    });
    let fixture = SessionFixture::open(tools, ClientBehavior::default(), |engine| engine);
    fixture.session.engine().run(work()).await;
    let counters = fixture.session.reports().counters();
    let lines = fixture.finish().await;
    let reported = |line: &Line| line.json.pointer(PROGRESS).and_then(Value::as_f64);
    let reported: Vec<f64> = lines.iter().filter_map(reported).collect();
    assert!((9..=13).contains(&reported.len()), "{reported:?}");
    assert!(reported.is_sorted(), "{reported:?}");
    let progress = &known(&lines).calls["call-1"]["_meta"]["toolcall/progress"];
    assert_eq!(progress["current"], 10_000);
    assert!(counters.coalesced >= 9_900, "{counters:?}");
}

/// Returns when the client read that this call has this status.
fn moment(seen: &[(Instant, Line)], call: &str, status: &str) -> Instant {
    let matches = |line: &Line| {
        let update = &line.json["params"]["update"];
        update["toolCallId"] == call && update["status"] == status
    };
    let found = seen.iter().find(|(_, line)| matches(line));
    found
        .unwrap_or_else(|| panic!("{call} is never {status}"))
        .0
}

/// Prints so much that its output is reported only now and then.
async fn shout(scope: &RunContext) {
    for _ in 0..600 {
        scope.print("all work and no play makes jack a dull boy\n".repeat(400));
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_status_waits_for_no_pace() {
    let tools = only(
        Kind::Other,
        |input: Arc<Value>, scope: RunContext| async move {
            if input["quiet"] == true {
                return Ok("quiet");
            }
            shout(&scope).await;
            let quiet = ToolRequest::new("work", serde_json::json!({"quiet": true}));
            scope.call(quiet).await;
            scope.print("the end");
            Ok("loud")
        },
    );
    let fixture = SessionFixture::open(tools, ClientBehavior::default(), |engine| engine);
    fixture.session.engine().run(work()).await;
    let now = Instant::now();
    fixture.session.reports().flush().await;
    assert_eq!(Instant::now(), now, "nothing is left to wait for");
    // The client has read by then.
    sleep(Duration::from_millis(1)).await;
    let seen = fixture.seen();
    for (call, status) in [
        ("call-2", "pending"),
        ("call-2", "in_progress"),
        ("call-2", "completed"),
        ("call-1", "completed"),
    ] {
        assert_eq!(moment(&seen, call, status), now, "{call} {status}");
    }
}
