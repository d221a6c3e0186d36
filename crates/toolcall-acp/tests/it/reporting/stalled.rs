//! A client that stops reading stops new calls and fills no memory; when it reads again, it receives everything.
//! Nothing is lost and nothing is out of order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;
use toolcall::*;

use crate::golden::rules;
use crate::reporting::fixture::{ClientBehavior, LANE, SessionFixture, only, work};

const CALLS: usize = 200;
const UNREPORTED: usize = 8;
/// The most bytes that one call reports at once.
const LONGEST: usize = 24 * 1024;

fn limits() -> Limits {
    Limits {
        running: 4,
        unreported: UNREPORTED,
        ..Limits::default()
    }
}

/// Creates a tool with a long result, which counts its calls.
fn verbose(begun: &Arc<AtomicUsize>) -> Registry {
    let begun = begun.clone();
    only(Kind::Other, move |_: Arc<Value>, scope: RunContext| {
        begun.fetch_add(1, Ordering::Relaxed);
        async move {
            scope.print("printed\n".repeat(1024));
            scope.progress(Progress::at(1.0));
            Ok("x".repeat(8 * 1024))
        }
    })
}

async fn call_all(session: Arc<toolcall_acp::Session>) {
    let turn = session.engine().turn();
    let mut handles = Vec::new();
    for _ in 0..CALLS {
        handles.push(turn.call(work()).await);
    }
    for handle in handles {
        assert_eq!(handle.await.ending(), &Ending::Completed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_stops_new_calls() {
    let begun = Arc::default();
    let fixture = SessionFixture::open(verbose(&begun), ClientBehavior::default(), |engine| {
        engine.limits(limits())
    });
    fixture.reads.send_replace(false);
    let calling = tokio::spawn(call_all(fixture.session.clone()));
    sleep(Duration::from_secs(600)).await;
    let stalled = begun.load(Ordering::Relaxed);
    assert!(stalled < CALLS / 2, "{stalled} calls were begun");
    sleep(Duration::from_secs(600)).await;
    assert_eq!(
        begun.load(Ordering::Relaxed),
        stalled,
        "it goes on all the same"
    );
    let deepest = fixture.client.counters().max_pending;
    assert!(deepest <= LANE + LONGEST, "{deepest} bytes wait");
    assert!(fixture.session.reports().counters().max_waiting <= UNREPORTED);

    fixture.reads.send_replace(true);
    calling.await.expect("every call ends");
    let deepest = fixture.client.counters().max_pending;
    let lines = fixture.finish().await;
    assert_eq!(rules::findings(&lines), [""; 0]);
    let ends =
        |line: &&crate::golden::line::Line| line.json["params"]["update"]["status"] == "completed";
    assert_eq!(lines.iter().filter(ends).count(), CALLS);
    assert!(deepest <= LANE + LONGEST, "{deepest} bytes waited");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_up_ends_only_the_reporting() {
    let begun = Arc::default();
    let fixture = SessionFixture::open(verbose(&begun), ClientBehavior::default(), |engine| {
        engine.limits(limits())
    });
    fixture.client.peer().lane().close();
    let calling = tokio::spawn(call_all(fixture.session.clone()));
    calling.await.expect("every call ends");
    assert_eq!(begun.load(Ordering::Relaxed), CALLS);
}
