//! Sessions that are closed or opened anew while something runs in them.
//! What was told meanwhile is looked at elsewhere.

use std::sync::Arc;

use serde_json::Value;
use toolcall::*;
use toolcall_acp::{Prompt, TraceContext};

use crate::reporting::desk::{Desk, Manners, only, work};

fn endless() -> Registry {
    only(Kind::Other, |_: Arc<Value>, scope: RunContext| async move {
        scope.cancelled().await;
        Err::<(), _>(ToolError::new("it was stopped"))
    })
}

/// A prompt with a call under way.
async fn busy(desk: &Desk) -> (Arc<Prompt>, CallHandle) {
    let prompt = desk.session.begin(TraceContext::default());
    let call = prompt.begin(work()).await;
    (prompt, call)
}

fn cancelled_by_person() -> Ending {
    Ending::Cancelled {
        by: Canceller::Person,
    }
}

#[tokio::test(start_paused = true)]
async fn closing_a_session_cancels_what_runs_there() {
    let desk = Desk::open(endless(), Manners::default(), |engine| engine);
    let (prompt, call) = busy(&desk).await;
    desk.client.close("s1").expect("a session");
    assert_eq!(call.await.ending(), &cancelled_by_person());
    assert!(prompt.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_opened_anew_takes_the_place_of_the_old_one() {
    let desk = Desk::open(endless(), Manners::default(), |engine| engine);
    let (prompt, call) = busy(&desk).await;
    let place = SessionContext::new(SessionId::new("s1"), "/w");
    let anew = Engine::builder(Registry::new()).setting(place);
    let anew = desk.client.open(anew);
    assert_eq!(call.await.ending(), &cancelled_by_person());
    assert!(prompt.is_cancelled());
    let open = desk.client.session("s1").expect("a session");
    assert!(Arc::ptr_eq(&open, &anew));
}
