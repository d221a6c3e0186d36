//! The spans of a turn: their tree, their parent and their attributes.
//! `content.rs` tests inputs and outputs.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use toolcall::{AllowAll, Clock as _, Engine, Registry, SessionContext, SessionId, ToolError};
use toolcall_telemetry::{Telemetry, TraceParent, TurnStart};

use crate::receiver::{Receiver, Reply};
use crate::setup::{LONG, clock, engine, run};
use crate::tree::tree;

const ABOVE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn turn() -> TurnStart {
    TurnStart::new(SessionId::new("session"))
}

#[tokio::test]
async fn a_turn_arrives_as_one_tree() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let telemetry = Telemetry::start(receiver.settings()).unwrap();
    let clock = clock();
    let engine = engine(&telemetry, &clock);
    let parent = TraceParent::parse(ABOVE).unwrap().with_state("vendor=1");
    let span = telemetry.turn(turn().agent("toolcall").parent(parent), clock.now());
    for tool in [
        "ask_first",
        "deny_always",
        "fail",
        "nest",
        "fill",
        "missing",
    ] {
        run(&engine, tool).await;
    }
    clock.advance_secs(1);
    span.end(clock.now());
    let stats = telemetry.close(LONG).await;
    let spans = receiver.spans();
    assert_eq!((stats.sent, stats.dropped), (spans.len() as u64, 0));
    expect![[r#"
        invoke_agent toolcall 0..25
          - gen_ai.operation.name = invoke_agent
          - gen_ai.conversation.id = session
          - gen_ai.agent.name = toolcall
          execute_tool ask_first 0..6
            - gen_ai.operation.name = execute_tool
            - gen_ai.tool.name = ask_first
            - gen_ai.tool.call.id = model-ask_first
            - gen_ai.conversation.id = session
            - toolcall.call.id = call-1
            - toolcall.kind = other
            - gen_ai.tool.type = function
            - toolcall.decision = allow
            - toolcall.decision.by = person
            - toolcall.decision.kept = once
            - toolcall.output.bytes = 7
            - toolcall.result.bytes = 13
            - toolcall.ending = completed
            queue 0..1
            wait_for_person 1..4
              - toolcall.wait.for = permission
              - toolcall.decision = allow
              - toolcall.decision.by = person
              - toolcall.decision.kept = once
            run 4..6
          execute_tool deny_always 6..7
            ! 2 denied
            - gen_ai.operation.name = execute_tool
            - gen_ai.tool.name = deny_always
            - gen_ai.tool.call.id = model-deny_always
            - gen_ai.conversation.id = session
            - toolcall.call.id = call-2
            - toolcall.kind = other
            - gen_ai.tool.type = function
            - toolcall.decision = deny
            - toolcall.decision.by = rule
            - toolcall.output.bytes = 0
            - toolcall.result.bytes = 0
            - toolcall.ending = denied
            - error.type = denied
            queue 6..7
          execute_tool fail 7..10
            ! 2 failed
            - gen_ai.operation.name = execute_tool
            - gen_ai.tool.name = fail
            - gen_ai.tool.call.id = model-fail
            - gen_ai.conversation.id = session
            - toolcall.call.id = call-3
            - toolcall.kind = other
            - gen_ai.tool.type = function
            - toolcall.decision = allow
            - toolcall.decision.by = rule
            - toolcall.output.bytes = 7
            - toolcall.result.bytes = 0
            - toolcall.ending = failed
            - error.type = failed
            queue 7..8
            run 8..10
          execute_tool nest 10..15
            - gen_ai.operation.name = execute_tool
            - gen_ai.tool.name = nest
            - gen_ai.tool.call.id = model-nest
            - gen_ai.conversation.id = session
            - toolcall.call.id = call-4
            - toolcall.kind = other
            - gen_ai.tool.type = function
            - toolcall.decision = allow
            - toolcall.decision.by = rule
            - toolcall.output.bytes = 0
            - toolcall.result.bytes = 0
            - toolcall.ending = completed
            queue 10..11
            run 11..15
            execute_tool print 12..15
              - gen_ai.operation.name = execute_tool
              - gen_ai.tool.name = print
              - gen_ai.tool.call.id = call-5
              - gen_ai.conversation.id = session
              - toolcall.call.id = call-5
              - toolcall.kind = other
              - gen_ai.tool.type = function
              - toolcall.decision = allow
              - toolcall.decision.by = rule
              - toolcall.output.bytes = 7
              - toolcall.result.bytes = 13
              - toolcall.ending = completed
              queue 12..13
              run 13..15
          execute_tool fill 15..24
            - gen_ai.operation.name = execute_tool
            - gen_ai.tool.name = fill
            - gen_ai.tool.call.id = model-fill
            - gen_ai.conversation.id = session
            - toolcall.call.id = call-6
            - toolcall.kind = other
            - gen_ai.tool.type = extension
            - mcp.method.name = tools/call
            - toolcall.mcp.server = forms
            - toolcall.decision = allow
            - toolcall.decision.by = rule
            - toolcall.output.bytes = 0
            - toolcall.result.bytes = 0
            - toolcall.ending = completed
            queue 15..16
            run 16..17
            wait_for_person 17..22
              - toolcall.wait.for = form
              - toolcall.form.answer = declined
            run 22..24
          execute_tool missing 24..24
            ! 2 failed
            - gen_ai.operation.name = execute_tool
            - gen_ai.tool.name = missing
            - gen_ai.tool.call.id = model-missing
            - gen_ai.conversation.id = session
            - toolcall.call.id = call-7
            - toolcall.kind = other
            - toolcall.output.bytes = 0
            - toolcall.result.bytes = 0
            - toolcall.ending = failed
            - error.type = failed
    "#]]
    .assert_eq(&tree(&spans));
    for span in &spans {
        assert_eq!(
            span.trace_id,
            0x0af7651916cd43dd8448eb211c80319c_u128.to_be_bytes()
        );
        assert_eq!(span.trace_state, "vendor=1");
        let is_turn = span.name.starts_with("invoke_agent");
        assert_eq!(
            span.flags,
            if is_turn { 0x301 } else { 0x101 },
            "{}",
            span.name
        );
        let is_below = span.parent_span_id == 0xb7ad6b7169203331_u64.to_be_bytes();
        assert_eq!(is_below, is_turn, "{}", span.name);
    }
}

#[tokio::test]
async fn without_a_turn_every_call_is_a_trace_of_its_own() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let telemetry = Telemetry::start(receiver.settings()).unwrap();
    let clock = clock();
    let engine = engine(&telemetry, &clock);
    run(&engine, "print").await;
    run(&engine, "print").await;
    telemetry.close(LONG).await;
    let spans = receiver.spans();
    let roots: Vec<_> = spans
        .iter()
        .filter(|span| span.parent_span_id.is_empty())
        .collect();
    assert_eq!(roots.len(), 2);
    assert_ne!(roots[0].trace_id, roots[1].trace_id);
    assert!(roots.iter().all(|root| root.name == "execute_tool print"));
}

#[tokio::test]
async fn a_turn_that_is_dropped_ended_with_its_calls() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let telemetry = Telemetry::start(receiver.settings()).unwrap();
    let clock = clock();
    let engine = engine(&telemetry, &clock);
    let span = telemetry.turn(turn(), clock.now());
    run(&engine, "print").await;
    clock.advance_secs(100);
    drop(span);
    // This call comes after the turn.
    run(&engine, "print").await;
    telemetry.close(LONG).await;
    let lines: Vec<_> = tree(&receiver.spans())
        .lines()
        .filter(|line| !line.contains(" - "))
        .map(str::to_owned)
        .collect();
    expect![[r#"
        invoke_agent 0..3
          execute_tool print 0..3
            queue 0..1
            run 1..3
        execute_tool print 103..106
          queue 103..104
          run 104..106"#]]
    .assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn what_the_client_leaves_out_is_left_out_here() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let telemetry = Telemetry::start(receiver.settings()).unwrap();
    let clock = clock();
    let engine = engine(&telemetry, &clock);
    let unsampled = ABOVE.replace("-01", "-00");
    let parent = TraceParent::parse(&unsampled).unwrap();
    let span = telemetry.turn(turn().parent(parent), clock.now());
    assert!(span.trace().to_string().ends_with("-00"));
    run(&engine, "nest").await;
    span.end(clock.now());
    assert_eq!(telemetry.close(LONG).await.sent, 0);
    assert_eq!(receiver.connections(), 0);
}

/// An engine with one tool, which stores the trace context of its call.
fn tracing_engine(
    telemetry: &Arc<Telemetry>,
    trace_seen: &Arc<Mutex<Option<TraceParent>>>,
) -> Engine {
    let (tracer, trace_seen) = (telemetry.clone(), trace_seen.clone());
    let tool = toolcall_testkit::tools::custom("hand_on", move |_, scope| {
        let trace = tracer.trace_of(&SessionId::new("session"), scope.id());
        *trace_seen.lock().unwrap() = trace;
        std::future::ready(Ok::<(), ToolError>(()))
    });
    let mut tools = Registry::new();
    tools.add_any(Arc::new(tool)).unwrap();
    Engine::builder(tools)
        .setting(SessionContext::new(SessionId::new("session"), "/"))
        .policy(AllowAll)
        .reader(telemetry.reader())
        .build()
}

#[tokio::test]
async fn an_open_call_has_a_trace_context() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let telemetry = Arc::new(Telemetry::start(receiver.settings()).unwrap());
    let trace_seen = Arc::default();
    let outcome = run(&tracing_engine(&telemetry, &trace_seen), "hand_on").await;
    telemetry.close(LONG).await;
    let handed_on = trace_seen.lock().unwrap().take().unwrap().to_string();
    let spans = receiver.spans();
    let mut calls = spans.iter();
    let call = calls
        .find(|span| span.name == "execute_tool hand_on")
        .unwrap();
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let own = format!("00-{}-{}-01", hex(&call.trace_id), hex(&call.span_id));
    assert_eq!(handed_on, own);
    let session = SessionId::new("session");
    assert_eq!(telemetry.trace_of(&session, outcome.id()), None);
}
