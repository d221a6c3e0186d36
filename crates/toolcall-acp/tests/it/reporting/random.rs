//! Tools that do anything, and clients that read at any speed: the rules hold on the wire.
//! What a shrunk failure shows becomes a story.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::sleep;
use toolcall::*;

use crate::golden::rules;
use crate::reporting::desk::{Desk, Manners};

/// One thing a tool does.
#[derive(Clone, Debug)]
enum Step {
    Print(String),
    Progress(u8),
    Show(String),
    Note(u8),
    Plan(u8),
    Wait(u16),
}

/// How a tool ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Completes,
    Fails,
    Panics,
    Hangs,
}

/// A call: what it states, does and comes to.
#[derive(Clone, Debug)]
struct Act {
    kind: Kind,
    is_asked: bool,
    steps: Vec<Step>,
    end: End,
    /// How long after the call before it begins.
    after: u16,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[a-z\u{1b}`é\n]{1,200}".prop_map(Step::Print),
        (0..500_usize).prop_map(|lines| Step::Print("line\n".repeat(lines))),
        any::<u8>().prop_map(Step::Progress),
        "[a-z]{0,20}".prop_map(Step::Show),
        any::<u8>().prop_map(Step::Note),
        (0..4_u8).prop_map(Step::Plan),
        (0..400_u16).prop_map(Step::Wait),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let kind = prop_oneof![Just(Kind::Execute), Just(Kind::Other)];
    let ends = [End::Completes, End::Fails, End::Panics, End::Hangs];
    let end = proptest::sample::select(ends.to_vec());
    let steps = proptest::collection::vec(step(), 0..12);
    (kind, any::<bool>(), steps, end, 0..300_u16).prop_map(|(kind, is_asked, steps, end, after)| {
        Act {
            kind,
            is_asked,
            steps,
            end,
            after,
        }
    })
}

fn manners() -> impl Strategy<Value = Manners> {
    let offers = prop_oneof![
        Just(json!({})),
        Just(json!({"_meta": {"terminal_output": true}})),
    ];
    let answer = proptest::option::of(prop_oneof![
        Just(json!({"outcome": "selected", "optionId": "allow-once"})),
        Just(json!({"outcome": "selected", "optionId": "reject-once"})),
        Just(json!({"outcome": "cancelled"})),
        Just(json!({"outcome": "perhaps"})),
    ]);
    let pause = prop_oneof![Just(0), 0..50_u64].prop_map(Duration::from_millis);
    (offers, answer, pause).prop_map(|(offers, answer, pause)| Manners {
        offers,
        pause,
        answer,
    })
}

async fn perform(act: Act, scope: RunContext) -> Result<&'static str, ToolError> {
    for step in act.steps {
        match step {
            Step::Print(text) => scope.print(text),
            Step::Progress(at) => scope.progress(Progress::at(at.into()).of(255.0)),
            Step::Show(text) => scope.show(text),
            Step::Note(value) => scope.note("example.com/note", json!(value))?,
            Step::Plan(steps) => scope.plan(plan(steps)),
            Step::Wait(millis) => sleep(Duration::from_millis(millis.into())).await,
        }
    }
    match act.end {
        End::Completes => Ok("done"),
        End::Fails => Err(ToolError::new("it failed")),
        End::Panics => panic!("as it was told"),
        End::Hangs => std::future::pending().await,
    }
}

fn plan(steps: u8) -> Plan {
    let step = |number| PlanEntry {
        content: format!("step {number}"),
        status: PlanStatus::default(),
        priority: Priority::default(),
    };
    Plan {
        entries: (0..steps).map(step).collect(),
    }
}

fn tool(name: String, act: Act) -> CustomTool {
    let mut definition = Definition::new(name.as_str(), "For a test", json!({"type": "object"}));
    definition.kind = Some(act.kind);
    let (kind, is_asked) = (act.kind, act.is_asked);
    let run = move |_: Arc<Value>, scope: RunContext| perform(act.clone(), scope);
    CustomTool::new(definition, run).preparing(move |_| {
        let intent = Intent::new(kind, name.clone());
        Ok(match is_asked {
            true => intent.touching(Touch::Reaches("example.com".into())),
            false => intent,
        })
    })
}

/// Plays the calls, cancels what hangs, and says what is wrong with the wire.
async fn findings(acts: Vec<Act>, manners: Manners) -> Vec<String> {
    let mut tools = Registry::new();
    for (number, act) in acts.iter().enumerate() {
        let tool = tool(format!("tool{number}"), act.clone());
        tools.add_any(Arc::new(tool)).expect("a tool");
    }
    let desk = Desk::open(tools, manners, |engine| engine);
    let turn = desk.session.engine().turn();
    for (number, act) in acts.iter().enumerate() {
        sleep(Duration::from_millis(act.after.into())).await;
        turn.call(ToolRequest::new(format!("tool{number}"), json!({})))
            .await;
    }
    sleep(Duration::from_secs(2)).await;
    turn.close().await;
    rules::findings(&desk.finish().await)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_rules_hold_whatever_happens(
        acts in proptest::collection::vec(act(), 1..6),
        manners in manners(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let findings = runtime.block_on(findings(acts, manners));
        prop_assert_eq!(findings, [""; 0]);
    }
}
