//! Random interleavings of answers, cancels, timeouts, panics and drops.
//! In any order: one ending for every call, nothing starts undecided, nothing starts after its
//! cancel.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use toolcall::*;

use crate::engine::support::*;

/// What happens to one call. Times are in steps of ten milliseconds.
#[derive(Clone, Debug)]
struct CallScript {
    arrives: u64,
    delivery: InputDelivery,
    prepares: ToolBehavior,
    verdict: ScriptedVerdict,
    runs: ToolBehavior,
    path: u8,
}

#[derive(Clone, Debug)]
enum InputDelivery {
    No,
    Completes { after: u64 },
    BreaksOff { after: u64 },
}

#[derive(Clone, Debug)]
enum ToolBehavior {
    Well { after: u64 },
    Fails { after: u64 },
    Panics { after: u64 },
    Hangs,
    Nests { after: u64 },
}

#[derive(Clone, Debug)]
enum ScriptedVerdict {
    Allow,
    Deny,
    Asked(ScriptedAnswer, u64),
}

#[derive(Clone, Copy, Debug)]
enum ScriptedAnswer {
    Once,
    Always,
    Reject,
    RejectAlways,
    Cancelled,
    Never,
    Panics,
}

/// An event from outside.
#[derive(Clone, Debug)]
enum OutsideEvent {
    CancelCall { which: usize, at: u64 },
    CancelTurn { at: u64 },
    DropTurn { at: u64 },
    DropEngine { at: u64 },
    NewRules { at: u64 },
}

fn behavior() -> impl Strategy<Value = ToolBehavior> {
    prop_oneof![
        4 => (0..20u64).prop_map(|after| ToolBehavior::Well { after }),
        1 => (0..20u64).prop_map(|after| ToolBehavior::Fails { after }),
        1 => (0..20u64).prop_map(|after| ToolBehavior::Panics { after }),
        1 => Just(ToolBehavior::Hangs),
        1 => (0..5u64).prop_map(|after| ToolBehavior::Nests { after }),
    ]
}

fn scripted_answer() -> impl Strategy<Value = ScriptedAnswer> {
    prop_oneof![
        Just(ScriptedAnswer::Once),
        Just(ScriptedAnswer::Always),
        Just(ScriptedAnswer::Reject),
        Just(ScriptedAnswer::RejectAlways),
        Just(ScriptedAnswer::Cancelled),
        Just(ScriptedAnswer::Never),
        Just(ScriptedAnswer::Panics),
    ]
}

fn script() -> impl Strategy<Value = CallScript> {
    let delivery = prop_oneof![
        3 => Just(InputDelivery::No),
        1 => (0..10u64).prop_map(|after| InputDelivery::Completes { after }),
        1 => (0..10u64).prop_map(|after| InputDelivery::BreaksOff { after }),
    ];
    let verdict = prop_oneof![
        2 => Just(ScriptedVerdict::Allow),
        1 => Just(ScriptedVerdict::Deny),
        3 => (scripted_answer(), 0..12u64).prop_map(|(scripted_answer, after)| ScriptedVerdict::Asked(scripted_answer, after)),
    ];
    (0..8u64, delivery, behavior(), verdict, behavior(), 0..3u8).prop_map(
        |(arrives, delivery, prepares, verdict, runs, path)| CallScript {
            arrives,
            delivery,
            prepares,
            verdict,
            runs,
            path,
        },
    )
}

fn outside_event() -> impl Strategy<Value = OutsideEvent> {
    prop_oneof![
        4 => (0..5usize, 0..20u64).prop_map(|(which, at)| OutsideEvent::CancelCall { which, at }),
        1 => (0..20u64).prop_map(|at| OutsideEvent::CancelTurn { at }),
        1 => (0..20u64).prop_map(|at| OutsideEvent::DropTurn { at }),
        1 => (0..20u64).prop_map(|at| OutsideEvent::DropEngine { at }),
        1 => (0..20u64).prop_map(|at| OutsideEvent::NewRules { at }),
    ]
}

const STEP: Duration = Duration::from_millis(10);

async fn steps(count: u64) {
    sleep(STEP * u32::try_from(count).unwrap()).await;
}

async fn act(
    behavior: &ToolBehavior,
    context: Option<&RunContext>,
) -> Result<&'static str, ToolError> {
    match behavior {
        ToolBehavior::Well { after } => {
            steps(*after).await;
            Ok("well")
        }
        ToolBehavior::Fails { after } => {
            steps(*after).await;
            Err(ToolError::new("it fails"))
        }
        ToolBehavior::Panics { after } => {
            steps(*after).await;
            panic!("in the script")
        }
        ToolBehavior::Hangs => std::future::pending().await,
        ToolBehavior::Nests { after } => {
            if let Some(context) = context {
                context.print("nesting");
                context.call(ToolRequest::new("nested", json!({}))).await;
            }
            steps(*after).await;
            Ok("nested")
        }
    }
}

/// A tool that follows the script whose number is in its input.
struct ScriptedTool(Arc<Vec<CallScript>>, ToolDefinition);

impl ScriptedTool {
    fn script(&self, input: &serde_json::Value) -> &CallScript {
        &self.0[usize::try_from(input["number"].as_u64().unwrap()).unwrap()]
    }
}

impl AnyTool for ScriptedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.1
    }

    fn prepare<'a>(
        &'a self,
        context: &'a PrepareContext,
    ) -> BoxFuture<'a, Result<Intent, ToolError>> {
        Box::pin(async move {
            let script = self.script(context.input());
            act(&script.prepares, None).await?;
            let number = &context.input()["number"];
            let intent = Intent::new(Kind::Edit, format!("{number}"));
            Ok(intent.touching(Touch::Writes(context.path(format!("{}", script.path)))))
        })
    }

    fn run<'a>(
        &'a self,
        input: Arc<serde_json::Value>,
        context: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            act(&self.script(&input).runs, Some(context))
                .await
                .map(Into::into)
        })
    }
}

fn number_of(intent: &Intent) -> Option<usize> {
    intent.title.parse().ok()
}

fn build_engine(
    scripts: &Arc<Vec<CallScript>>,
    log: &Log,
    store: &Arc<MemoryStore>,
    rulebook: &Arc<SessionRulebook>,
) -> Engine {
    let definition = ToolDefinition::new(
        "scripted",
        "For a test",
        json!({"type": "object", "required": ["number"]}),
    );
    let mut registry = registry([tool("nested", |_, _| async { Ok("deep") })]);
    registry
        .add_any(Arc::new(ScriptedTool(scripts.clone(), definition)))
        .unwrap();
    let asked = scripts.clone();
    let approver = move |question: Arc<Question>| {
        let script =
            number_of(&question.subject.intent).map(|number| asked[number].verdict.clone());
        async move {
            let (scripted_answer, after) = match script {
                Some(ScriptedVerdict::Asked(scripted_answer, after)) => (scripted_answer, after),
                Some(ScriptedVerdict::Allow | ScriptedVerdict::Deny) | None => {
                    (ScriptedAnswer::Reject, 0)
                }
            };
            steps(after).await;
            answer(scripted_answer, &question).await
        }
    };
    let limits = Limits {
        running: 2,
        unreported: 8,
        prepare: STEP * 8,
        run: STEP * 12,
        grace: STEP * 2,
        heartbeat: STEP * 5,
        ..Limits::default()
    };
    engine(registry, log)
        .rulebook(rulebook.clone())
        .approver(approver)
        .store(store.clone())
        .limits(limits)
        .build()
}

async fn answer(scripted_answer: ScriptedAnswer, question: &Question) -> Answer {
    let rule = || question.offers[0].clone();
    match scripted_answer {
        ScriptedAnswer::Once => Answer::AllowOnce,
        ScriptedAnswer::Always => Answer::AllowAlways(rule()),
        ScriptedAnswer::Reject => Answer::reject(),
        ScriptedAnswer::RejectAlways => Answer::RejectAlways {
            rule: rule(),
            reason: None,
        },
        ScriptedAnswer::Cancelled => Answer::Cancelled,
        ScriptedAnswer::Never => std::future::pending().await,
        ScriptedAnswer::Panics => panic!("in the approver"),
    }
}

fn policy(scripts: Arc<Vec<CallScript>>) -> impl Policy {
    move |intent: &Intent, _: &SessionContext| match number_of(intent)
        .map(|number| &scripts[number].verdict)
    {
        Some(ScriptedVerdict::Allow) | None => Verdict::allow("script"),
        Some(ScriptedVerdict::Deny) => Verdict::deny("script", "denied"),
        Some(ScriptedVerdict::Asked(..)) => Verdict::ask("script", intent),
    }
}

/// Something that happens at a certain time.
#[derive(Clone, Debug)]
enum TimelineEvent {
    CallArrives(usize),
    StreamEnds(usize),
    Outside(OutsideEvent),
}

fn timeline(
    scripts: &[CallScript],
    outside_events: Vec<OutsideEvent>,
) -> Vec<(u64, TimelineEvent)> {
    let mut events = Vec::new();
    for (number, script) in scripts.iter().enumerate() {
        events.push((script.arrives, TimelineEvent::CallArrives(number)));
        match script.delivery {
            InputDelivery::No => {}
            InputDelivery::Completes { after } | InputDelivery::BreaksOff { after } => {
                events.push((script.arrives + after, TimelineEvent::StreamEnds(number)));
            }
        }
    }
    events.extend(
        outside_events
            .into_iter()
            .map(|outside_event| (outside_event.at(), TimelineEvent::Outside(outside_event))),
    );
    events.sort_by_key(|(at, _)| *at);
    events
}

/// A running simulation.
struct Simulation {
    scripts: Arc<Vec<CallScript>>,
    rulebook: Arc<SessionRulebook>,
    log: Log,
    engine: Option<Engine>,
    turn: Option<Turn>,
    streams: HashMap<usize, InputStream>,
    calls: Vec<CallHandle>,
    /// How long the log was when a call was certainly cancelled.
    cancelled: HashMap<CallId, usize>,
}

impl Simulation {
    fn new(scripts: Vec<CallScript>, log: &Log, store: &Arc<MemoryStore>) -> Self {
        let scripts = Arc::new(scripts);
        let rulebook = Arc::new(SessionRulebook::new(policy(scripts.clone())));
        let engine = build_engine(&scripts, log, store, &rulebook);
        Self {
            turn: Some(engine.turn()),
            engine: Some(engine),
            scripts,
            rulebook,
            log: log.clone(),
            streams: HashMap::new(),
            calls: Vec::new(),
            cancelled: HashMap::new(),
        }
    }

    async fn run(mut self, timeline: Vec<(u64, TimelineEvent)>) -> HashMap<CallId, usize> {
        let began = Instant::now();
        for (at, event) in timeline {
            sleep_until(began + STEP * u32::try_from(at).unwrap()).await;
            match event {
                TimelineEvent::CallArrives(number) => self.arrive(number).await,
                TimelineEvent::StreamEnds(number) => self.end_stream(number),
                TimelineEvent::Outside(outside_event) => self.apply(&outside_event),
            }
        }
        steps(100).await;
        drop(self.turn);
        for call in self.calls {
            let id = call.id().clone();
            let ended = tokio::time::timeout(Duration::from_secs(3600), call).await;
            assert!(ended.is_ok(), "{id} never ends");
        }
        self.cancelled
    }

    async fn arrive(&mut self, number: usize) {
        let Some(turn) = &self.turn else {
            return;
        };
        let input = json!({"number": number});
        match self.scripts[number].delivery {
            InputDelivery::No => self
                .calls
                .push(turn.call(ToolRequest::new("scripted", input)).await),
            InputDelivery::Completes { .. } | InputDelivery::BreaksOff { .. } => {
                let mut stream = turn.open("scripted").await;
                stream.grow(&input.to_string());
                self.streams.insert(number, stream);
            }
        }
    }

    fn end_stream(&mut self, number: usize) {
        let Some(stream) = self.streams.remove(&number) else {
            return;
        };
        match self.scripts[number].delivery {
            InputDelivery::BreaksOff { .. } => drop(stream),
            InputDelivery::Completes { .. } | InputDelivery::No => {
                self.calls.push(stream.complete())
            }
        }
    }

    fn apply(&mut self, outside_event: &OutsideEvent) {
        match outside_event {
            OutsideEvent::CancelCall { which, .. } => self.cancel_call(&id(which + 1)),
            OutsideEvent::CancelTurn { .. } => {
                self.turn.iter().for_each(Turn::cancel);
                self.mark_all();
            }
            OutsideEvent::DropTurn { .. } => {
                self.turn = None;
                self.mark_all();
            }
            OutsideEvent::DropEngine { .. } => {
                self.engine = None;
                self.turn = None;
                self.mark_all();
            }
            OutsideEvent::NewRules { .. } => self.rulebook.replace(AllowAll),
        }
    }

    fn cancel_call(&mut self, call: &CallId) {
        if self
            .engine
            .as_ref()
            .is_some_and(|engine| engine.cancel(call))
        {
            self.cancelled.insert(call.clone(), self.log.all().len());
        }
    }

    /// Notes that every call so far was cancelled or has ended.
    fn mark_all(&mut self) {
        let all = self.log.all();
        for (call, _) in &all {
            self.cancelled.entry(call.clone()).or_insert(all.len());
        }
    }
}

impl OutsideEvent {
    fn at(&self) -> u64 {
        match self {
            OutsideEvent::CancelCall { at, .. }
            | OutsideEvent::CancelTurn { at }
            | OutsideEvent::DropTurn { at }
            | OutsideEvent::DropEngine { at }
            | OutsideEvent::NewRules { at } => *at,
        }
    }
}

/// Checks what must hold for any simulation.
fn check_invariants(
    log: &[(CallId, Event)],
    cancelled: &HashMap<CallId, usize>,
    store: &MemoryStore,
) {
    let mut calls: HashMap<&CallId, Vec<(usize, &Event)>> = HashMap::new();
    for (index, (call, event)) in log.iter().enumerate() {
        calls.entry(call).or_default().push((index, event));
    }
    for (call, events) in &calls {
        let names: Vec<&str> = events.iter().map(|(_, event)| event.name()).collect();
        assert_eq!(names.first(), Some(&"announced"), "{call}: {names:?}");
        assert_eq!(names.last(), Some(&"finished"), "{call}: {names:?}");
        assert_eq!(
            names.iter().filter(|name| **name == "finished").count(),
            1,
            "{call}: {names:?}"
        );
        let Some(started) = names.iter().position(|name| *name == "started") else {
            continue;
        };
        let allowed = events[..started].iter().any(|(_, event)| {
            matches!(event, Event::Decided(decision) if decision.effect == Effect::Allow)
        });
        assert!(allowed, "{call} started undecided: {names:?}");
        if let Some(index) = cancelled.get(*call) {
            assert!(
                events[started].0 < *index,
                "{call} started after its cancel: {names:?}"
            );
        }
    }
    let replayed = replay(&store.load(&SessionId::new("session")).unwrap());
    assert_eq!(replayed.len(), calls.len());
    assert!(replayed.iter().all(|call| call.ending().is_some()));
}

fn run(scripts: Vec<CallScript>, outside_events: Vec<OutsideEvent>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let (log, store) = (Log::default(), Arc::new(MemoryStore::default()));
    let timeline = timeline(&scripts, outside_events);
    let cancelled =
        runtime.block_on(async { Simulation::new(scripts, &log, &store).run(timeline).await });
    check_invariants(&log.all(), &cancelled, &store);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: schedules(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_ends_once_whatever_happens(
        scripts in proptest::collection::vec(script(), 1..5),
        outside_events in proptest::collection::vec(outside_event(), 0..4),
    ) {
        quiet_panics();
        run(scripts, outside_events);
    }
}

/// Silences the panics of scripts, which happen thousands of times on purpose.
fn quiet_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let said = info
                .payload()
                .downcast_ref::<&str>()
                .copied()
                .unwrap_or_default();
            if !said.starts_with("in the ") {
                loud(info);
            }
        }));
    });
}

/// Returns how many simulations to run: a thousand in a quick run; `cargo xtask test` asks for ten
/// times as many.
fn schedules() -> u32 {
    let asked = std::env::var("TOOLCALL_SCHEDULES").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(1_000)
}
