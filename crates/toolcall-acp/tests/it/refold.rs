//! A call that is encoded in v1 and decoded again is the same call, except for what v1 cannot express.
//! `docs/acp-v1.md` lists those losses; these tests compare everything else.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use toolcall::{CallId, Event, Output, Plan, SessionId, Timestamp, ToolCall};
use toolcall_acp::v1::decode::decode_plan;
use toolcall_acp::v1::{EncodeOptions, OutputFormat, encode, snapshot};

use crate::fold::Folded;
use crate::v1_call::V1Call;
use toolcall_testkit::events::{any_announced, any_event};

/// A sequence of events that the call accepts. Unknown statuses are left out, because v1 has none.
fn any_story() -> impl Strategy<Value = Vec<(ToolCall, Event)>> {
    (any_announced(), vec(any_event(), 0..30)).prop_map(|(announced, events)| {
        let announced = Arc::new(announced);
        let (id, session) = (CallId::new("call"), SessionId::new("session"));
        let output = Arc::new(Output::default());
        let at = Timestamp::default();
        let mut call = ToolCall::announce(id, session, announced.clone(), output, at);
        let mut story = vec![(call.clone(), Event::Announced(announced))];
        for event in events {
            let is_known = !matches!(event, Event::StatusUnknown(_));
            if is_known && call.apply(&event, at).is_ok() {
                story.push((call.clone(), event));
            }
        }
        story
    })
}

/// Decodes updates as a client would.
fn read(updates: Vec<Value>) -> (Folded, Option<Plan>) {
    let (mut folded, mut plan) = (Folded::default(), None);
    for update in updates {
        if update["sessionUpdate"] == "plan" {
            plan = decode_plan(&update).ok().map(|read| read.plan);
        } else {
            folded.take("session", &update);
        }
    }
    (folded, plan)
}

fn check(call: &ToolCall, updates: Vec<Value>) -> Result<(), TestCaseError> {
    let (folded, plan) = read(updates);
    prop_assert_eq!(&folded.findings, &[]);
    prop_assert_eq!(&folded.irregular, &[]);
    let [again] = folded.calls.as_slice() else {
        return Err(TestCaseError::fail("not one call"));
    };
    prop_assert_eq!(V1Call::of(again), V1Call::of(call));
    prop_assert_eq!(plan.as_ref(), call.plan().map(|plan| &**plan));
    Ok(())
}

fn any_dialect() -> impl Strategy<Value = EncodeOptions> {
    prop::sample::select(vec![OutputFormat::Text, OutputFormat::Terminal]).prop_map(|printing| {
        EncodeOptions {
            printing,
            ..EncodeOptions::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn updates_sent_step_by_step_decode_to_the_same_call(story in any_story(), dialect in any_dialect()) {
        let updates = story.iter().flat_map(|(call, event)| encode(call, event, &dialect));
        let updates = updates.map(|update| update.to_value()).collect();
        let (call, _) = story.last().expect("it was announced");
        check(call, updates)?;
    }

    #[test]
    fn a_snapshot_decodes_to_the_same_call(story in any_story(), dialect in any_dialect()) {
        let (call, _) = story.last().expect("it was announced");
        let updates = snapshot(call, &dialect).map(|update| update.to_value()).collect();
        check(call, updates)?;
    }
}
