//! Sessions that are closed or opened again while a call runs in them.
//! Other tests check the reports.

use std::sync::Arc;

use serde_json::Value;
use toolcall::*;
use toolcall_acp::{Prompt, TraceContext};

use crate::reporting::fixture::{ClientBehavior, SessionFixture, only, work};

fn endless() -> Registry {
    only(Kind::Other, |_: Arc<Value>, scope: RunContext| async move {
        scope.cancelled().await;
        Err::<(), _>(ToolError::new("it was stopped"))
    })
}

/// Starts a prompt with a running call.
async fn busy(fixture: &SessionFixture) -> (Arc<Prompt>, CallHandle) {
    let prompt = fixture.session.begin(TraceContext::default());
    let call = prompt.begin(work()).await;
    (prompt, call)
}

fn cancelled_by_user() -> Ending {
    Ending::Cancelled {
        by: Canceller::Person,
    }
}

#[tokio::test(start_paused = true)]
async fn closing_a_session_cancels_what_runs_there() {
    let fixture = SessionFixture::open(endless(), ClientBehavior::default(), |engine| engine);
    let (prompt, call) = busy(&fixture).await;
    fixture.client.close("s1").expect("a session");
    assert_eq!(call.await.ending(), &cancelled_by_user());
    assert!(prompt.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_opened_anew_takes_the_place_of_the_old_one() {
    let fixture = SessionFixture::open(endless(), ClientBehavior::default(), |engine| engine);
    let (prompt, call) = busy(&fixture).await;
    let place = SessionContext::new(SessionId::new("s1"), "/w");
    let anew = Engine::builder(Registry::new()).setting(place);
    let anew = fixture.client.open(anew);
    assert_eq!(call.await.ending(), &cancelled_by_user());
    assert!(prompt.is_cancelled());
    let open = fixture.client.session("s1").expect("a session");
    assert!(Arc::ptr_eq(&open, &anew));
}
