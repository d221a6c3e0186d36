//! Random tools, and clients that read at any speed: the rules hold for every line.
//! A failure that is found here becomes a golden test.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::sleep;
use toolcall::*;

use crate::golden::rules;
use crate::reporting::fixture::{ClientBehavior, SessionFixture};

/// One action of a tool.
#[derive(Clone, Debug)]
enum ToolStep {
    Print(String),
    Progress(u8),
    Show(String),
    Note(u8),
    Plan(u8),
    Wait(u16),
}

/// How a tool ends.
#[derive(Clone, Copy, Debug)]
enum ToolEnd {
    Completes,
    Fails,
    Panics,
    Hangs,
}

/// A call: its intent, its steps and its ending.
#[derive(Clone, Debug)]
struct ScriptedCall {
    kind: Kind,
    is_asked: bool,
    steps: Vec<ToolStep>,
    end: ToolEnd,
    /// The delay after the previous call, in milliseconds.
    after: u16,
}

fn step() -> impl Strategy<Value = ToolStep> {
    prop_oneof![
        "[a-z\u{1b}`é\n]{1,200}".prop_map(ToolStep::Print),
        (0..500_usize).prop_map(|lines| ToolStep::Print("line\n".repeat(lines))),
        any::<u8>().prop_map(ToolStep::Progress),
        "[a-z]{0,20}".prop_map(ToolStep::Show),
        any::<u8>().prop_map(ToolStep::Note),
        (0..4_u8).prop_map(ToolStep::Plan),
        (0..400_u16).prop_map(ToolStep::Wait),
    ]
}

fn call_script() -> impl Strategy<Value = ScriptedCall> {
    let kind = prop_oneof![Just(Kind::Execute), Just(Kind::Other)];
    let ends = [
        ToolEnd::Completes,
        ToolEnd::Fails,
        ToolEnd::Panics,
        ToolEnd::Hangs,
    ];
    let end = proptest::sample::select(ends.to_vec());
    let steps = proptest::collection::vec(step(), 0..12);
    (kind, any::<bool>(), steps, end, 0..300_u16).prop_map(|(kind, is_asked, steps, end, after)| {
        ScriptedCall {
            kind,
            is_asked,
            steps,
            end,
            after,
        }
    })
}

fn behavior() -> impl Strategy<Value = ClientBehavior> {
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
    (offers, answer, pause).prop_map(|(offers, answer, pause)| ClientBehavior {
        offers,
        pause,
        answer,
    })
}

async fn perform(call_script: ScriptedCall, scope: RunContext) -> Result<&'static str, ToolError> {
    for step in call_script.steps {
        match step {
            ToolStep::Print(text) => scope.print(text),
            ToolStep::Progress(at) => scope.progress(Progress::at(at.into()).of(255.0)),
            ToolStep::Show(text) => scope.show(text),
            ToolStep::Note(value) => scope.note("example.com/note", json!(value))?,
            ToolStep::Plan(steps) => scope.plan(plan(steps)),
            ToolStep::Wait(millis) => sleep(Duration::from_millis(millis.into())).await,
        }
    }
    match call_script.end {
        ToolEnd::Completes => Ok("done"),
        ToolEnd::Fails => Err(ToolError::new("it failed")),
        ToolEnd::Panics => panic!("on purpose"),
        ToolEnd::Hangs => std::future::pending().await,
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

fn tool(name: String, call_script: ScriptedCall) -> CustomTool {
    let mut definition =
        ToolDefinition::new(name.as_str(), "For a test", json!({"type": "object"}));
    definition.kind = Some(call_script.kind);
    let (kind, is_asked) = (call_script.kind, call_script.is_asked);
    let run = move |_: Arc<Value>, scope: RunContext| perform(call_script.clone(), scope);
    CustomTool::new(definition, run).preparing(move |_| {
        let intent = Intent::new(kind, name.clone());
        if !is_asked {
            return Ok(intent);
        }
        Ok(intent.touching(Touch::Reaches("example.com".into())))
    })
}

/// Runs the calls, cancels those that hang, and returns what is wrong with the lines.
async fn findings(call_scripts: Vec<ScriptedCall>, behavior: ClientBehavior) -> Vec<String> {
    let mut tools = Registry::new();
    for (number, call_script) in call_scripts.iter().enumerate() {
        let tool = tool(format!("tool{number}"), call_script.clone());
        tools.add_any(Arc::new(tool)).expect("a tool");
    }
    let fixture = SessionFixture::open(tools, behavior, |engine| engine);
    let turn = fixture.session.engine().turn();
    for (number, call_script) in call_scripts.iter().enumerate() {
        sleep(Duration::from_millis(call_script.after.into())).await;
        turn.call(ToolRequest::new(format!("tool{number}"), json!({})))
            .await;
    }
    sleep(Duration::from_secs(2)).await;
    turn.close().await;
    rules::findings(&fixture.finish().await)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_rules_hold_whatever_happens(
        call_scripts in proptest::collection::vec(call_script(), 1..6),
        behavior in behavior(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let findings = runtime.block_on(findings(call_scripts, behavior));
        prop_assert_eq!(findings, [""; 0]);
    }
}
