//! Random interleavings of answers, cancels, timeouts, panics and drops.
//! Whatever comes when: one ending for every call, nothing undecided starts, nothing starts after its cancel.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use toolcall::*;

use crate::engine::support::*;

/// What one call meets on its way. Times are in steps of ten milliseconds.
#[derive(Clone, Debug)]
struct Plot {
    arrives: u64,
    streamed: Streamed,
    prepares: Does,
    verdict: Judged,
    runs: Does,
    path: u8,
}

#[derive(Clone, Debug)]
enum Streamed {
    No,
    Completes { after: u64 },
    BreaksOff { after: u64 },
}

#[derive(Clone, Debug)]
enum Does {
    Well { after: u64 },
    Fails { after: u64 },
    Panics { after: u64 },
    Hangs,
    Nests { after: u64 },
}

#[derive(Clone, Debug)]
enum Judged {
    Allow,
    Deny,
    Asked(Reply, u64),
}

#[derive(Clone, Copy, Debug)]
enum Reply {
    Once,
    Always,
    Reject,
    RejectAlways,
    Cancelled,
    Never,
    Panics,
}

/// What comes from outside.
#[derive(Clone, Debug)]
enum Blow {
    CancelCall { which: usize, at: u64 },
    CancelTurn { at: u64 },
    DropTurn { at: u64 },
    DropEngine { at: u64 },
    NewRules { at: u64 },
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        4 => (0..20u64).prop_map(|after| Does::Well { after }),
        1 => (0..20u64).prop_map(|after| Does::Fails { after }),
        1 => (0..20u64).prop_map(|after| Does::Panics { after }),
        1 => Just(Does::Hangs),
        1 => (0..5u64).prop_map(|after| Does::Nests { after }),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        Just(Reply::Once),
        Just(Reply::Always),
        Just(Reply::Reject),
        Just(Reply::RejectAlways),
        Just(Reply::Cancelled),
        Just(Reply::Never),
        Just(Reply::Panics),
    ]
}

fn plot() -> impl Strategy<Value = Plot> {
    let streamed = prop_oneof![
        3 => Just(Streamed::No),
        1 => (0..10u64).prop_map(|after| Streamed::Completes { after }),
        1 => (0..10u64).prop_map(|after| Streamed::BreaksOff { after }),
    ];
    let verdict = prop_oneof![
        2 => Just(Judged::Allow),
        1 => Just(Judged::Deny),
        3 => (reply(), 0..12u64).prop_map(|(reply, after)| Judged::Asked(reply, after)),
    ];
    (0..8u64, streamed, does(), verdict, does(), 0..3u8).prop_map(
        |(arrives, streamed, prepares, verdict, runs, path)| Plot {
            arrives,
            streamed,
            prepares,
            verdict,
            runs,
            path,
        },
    )
}

fn blow() -> impl Strategy<Value = Blow> {
    prop_oneof![
        4 => (0..5usize, 0..20u64).prop_map(|(which, at)| Blow::CancelCall { which, at }),
        1 => (0..20u64).prop_map(|at| Blow::CancelTurn { at }),
        1 => (0..20u64).prop_map(|at| Blow::DropTurn { at }),
        1 => (0..20u64).prop_map(|at| Blow::DropEngine { at }),
        1 => (0..20u64).prop_map(|at| Blow::NewRules { at }),
    ]
}

const STEP: Duration = Duration::from_millis(10);

async fn steps(count: u64) {
    sleep(STEP * u32::try_from(count).unwrap()).await;
}

async fn act(does: &Does, scope: Option<&RunContext>) -> Result<&'static str, ToolError> {
    match does {
        Does::Well { after } => {
            steps(*after).await;
            Ok("well")
        }
        Does::Fails { after } => {
            steps(*after).await;
            Err(ToolError::new("it fails"))
        }
        Does::Panics { after } => {
            steps(*after).await;
            panic!("in the plot")
        }
        Does::Hangs => std::future::pending().await,
        Does::Nests { after } => {
            if let Some(scope) = scope {
                scope.print("nesting");
                scope.call(ToolRequest::new("nested", json!({}))).await;
            }
            steps(*after).await;
            Ok("nested")
        }
    }
}

/// The tool whose call number is in its input.
struct Plotted(Arc<Vec<Plot>>, Definition);

impl Plotted {
    fn plot(&self, input: &serde_json::Value) -> &Plot {
        &self.0[usize::try_from(input["number"].as_u64().unwrap()).unwrap()]
    }
}

impl AnyTool for Plotted {
    fn definition(&self) -> &Definition {
        &self.1
    }

    fn prepare<'a>(&'a self, look: &'a PrepareContext) -> BoxFuture<'a, Result<Intent, ToolError>> {
        Box::pin(async move {
            let plot = self.plot(look.input());
            act(&plot.prepares, None).await?;
            let number = &look.input()["number"];
            let intent = Intent::new(Kind::Edit, format!("{number}"));
            Ok(intent.touching(Touch::Writes(look.path(format!("{}", plot.path)))))
        })
    }

    fn run<'a>(
        &'a self,
        input: Arc<serde_json::Value>,
        scope: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            act(&self.plot(&input).runs, Some(scope))
                .await
                .map(Into::into)
        })
    }
}

fn number_of(intent: &Intent) -> Option<usize> {
    intent.title.parse().ok()
}

fn stage(
    plots: &Arc<Vec<Plot>>,
    log: &Log,
    store: &Arc<MemoryStore>,
    rulebook: &Arc<SessionRulebook>,
) -> Engine {
    let definition = Definition::new(
        "plotted",
        "For a test",
        json!({"type": "object", "required": ["number"]}),
    );
    let mut registry = registry([tool("nested", |_, _| async { Ok("deep") })]);
    registry
        .add_any(Arc::new(Plotted(plots.clone(), definition)))
        .unwrap();
    let asked = plots.clone();
    let approver = move |question: Arc<Question>| {
        let plot = number_of(&question.subject.intent).map(|number| asked[number].verdict.clone());
        async move {
            let (reply, after) = match plot {
                Some(Judged::Asked(reply, after)) => (reply, after),
                Some(Judged::Allow | Judged::Deny) | None => (Reply::Reject, 0),
            };
            steps(after).await;
            answer(reply, &question).await
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

async fn answer(reply: Reply, question: &Question) -> Answer {
    let rule = || question.offers[0].clone();
    match reply {
        Reply::Once => Answer::AllowOnce,
        Reply::Always => Answer::AllowAlways(rule()),
        Reply::Reject => Answer::reject(),
        Reply::RejectAlways => Answer::RejectAlways {
            rule: rule(),
            reason: None,
        },
        Reply::Cancelled => Answer::Cancelled,
        Reply::Never => std::future::pending().await,
        Reply::Panics => panic!("in the approver"),
    }
}

fn policy(plots: Arc<Vec<Plot>>) -> impl Policy {
    move |intent: &Intent, _: &SessionContext| match number_of(intent)
        .map(|number| &plots[number].verdict)
    {
        Some(Judged::Allow) | None => Verdict::allow("plot"),
        Some(Judged::Deny) => Verdict::deny("plot", "denied"),
        Some(Judged::Asked(..)) => Verdict::ask("plot", intent),
    }
}

/// Something that happens at its time.
#[derive(Clone, Debug)]
enum Happening {
    Arrives(usize),
    StreamEnds(usize),
    Strikes(Blow),
}

fn timeline(plots: &[Plot], blows: Vec<Blow>) -> Vec<(u64, Happening)> {
    let mut happenings = Vec::new();
    for (number, plot) in plots.iter().enumerate() {
        happenings.push((plot.arrives, Happening::Arrives(number)));
        match plot.streamed {
            Streamed::No => {}
            Streamed::Completes { after } | Streamed::BreaksOff { after } => {
                happenings.push((plot.arrives + after, Happening::StreamEnds(number)));
            }
        }
    }
    happenings.extend(
        blows
            .into_iter()
            .map(|blow| (blow.at(), Happening::Strikes(blow))),
    );
    happenings.sort_by_key(|(at, _)| *at);
    happenings
}

/// A story while it is told.
struct Story {
    plots: Arc<Vec<Plot>>,
    rulebook: Arc<SessionRulebook>,
    log: Log,
    engine: Option<Engine>,
    turn: Option<Turn>,
    streams: HashMap<usize, InputStream>,
    calls: Vec<CallHandle>,
    /// How long the log was when a call was surely cancelled.
    cancelled: HashMap<CallId, usize>,
}

impl Story {
    fn new(plots: Vec<Plot>, log: &Log, store: &Arc<MemoryStore>) -> Self {
        let plots = Arc::new(plots);
        let rulebook = Arc::new(SessionRulebook::new(policy(plots.clone())));
        let engine = stage(&plots, log, store, &rulebook);
        Self {
            turn: Some(engine.turn()),
            engine: Some(engine),
            plots,
            rulebook,
            log: log.clone(),
            streams: HashMap::new(),
            calls: Vec::new(),
            cancelled: HashMap::new(),
        }
    }

    async fn tell(mut self, timeline: Vec<(u64, Happening)>) -> HashMap<CallId, usize> {
        let began = Instant::now();
        for (at, happening) in timeline {
            sleep_until(began + STEP * u32::try_from(at).unwrap()).await;
            match happening {
                Happening::Arrives(number) => self.arrive(number).await,
                Happening::StreamEnds(number) => self.end_stream(number),
                Happening::Strikes(blow) => self.strike(&blow),
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
        match self.plots[number].streamed {
            Streamed::No => self
                .calls
                .push(turn.call(ToolRequest::new("plotted", input)).await),
            Streamed::Completes { .. } | Streamed::BreaksOff { .. } => {
                let mut stream = turn.open("plotted").await;
                stream.grow(&input.to_string());
                self.streams.insert(number, stream);
            }
        }
    }

    fn end_stream(&mut self, number: usize) {
        let Some(stream) = self.streams.remove(&number) else {
            return;
        };
        match self.plots[number].streamed {
            Streamed::BreaksOff { .. } => drop(stream),
            Streamed::Completes { .. } | Streamed::No => self.calls.push(stream.complete()),
        }
    }

    fn strike(&mut self, blow: &Blow) {
        match blow {
            Blow::CancelCall { which, .. } => self.cancel_call(&id(which + 1)),
            Blow::CancelTurn { .. } => {
                self.turn.iter().for_each(Turn::cancel);
                self.mark_all();
            }
            Blow::DropTurn { .. } => {
                self.turn = None;
                self.mark_all();
            }
            Blow::DropEngine { .. } => {
                self.engine = None;
                self.turn = None;
                self.mark_all();
            }
            Blow::NewRules { .. } => self.rulebook.replace(AllowAll),
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

    /// Every call there is now has been cancelled or has ended.
    fn mark_all(&mut self) {
        let all = self.log.all();
        for (call, _) in &all {
            self.cancelled.entry(call.clone()).or_insert(all.len());
        }
    }
}

impl Blow {
    fn at(&self) -> u64 {
        match self {
            Blow::CancelCall { at, .. }
            | Blow::CancelTurn { at }
            | Blow::DropTurn { at }
            | Blow::DropEngine { at }
            | Blow::NewRules { at } => *at,
        }
    }
}

/// What must hold of any story.
fn judge(log: &[(CallId, Event)], cancelled: &HashMap<CallId, usize>, store: &MemoryStore) {
    let mut calls: HashMap<&CallId, Vec<(usize, &Event)>> = HashMap::new();
    for (place, (call, event)) in log.iter().enumerate() {
        calls.entry(call).or_default().push((place, event));
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
        if let Some(place) = cancelled.get(*call) {
            assert!(
                events[started].0 < *place,
                "{call} started after its cancel: {names:?}"
            );
        }
    }
    let replayed = replay(&store.load(&SessionId::new("session")).unwrap());
    assert_eq!(replayed.len(), calls.len());
    assert!(replayed.iter().all(|call| call.ending().is_some()));
}

fn run(plots: Vec<Plot>, blows: Vec<Blow>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let (log, store) = (Log::default(), Arc::new(MemoryStore::default()));
    let timeline = timeline(&plots, blows);
    let cancelled =
        runtime.block_on(async { Story::new(plots, &log, &store).tell(timeline).await });
    judge(&log.all(), &cancelled, &store);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: schedules(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_ends_once_whatever_happens(
        plots in proptest::collection::vec(plot(), 1..5),
        blows in proptest::collection::vec(blow(), 0..4),
    ) {
        quiet_panics();
        run(plots, blows);
    }
}

/// The plots panic on purpose, thousands of times: only panics of the test itself are worth a line.
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

/// A thousand stories in a quick run; `cargo xtask test` asks for ten times as many.
fn schedules() -> u32 {
    let asked = std::env::var("TOOLCALL_SCHEDULES").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(1_000)
}
