//! Calls told to the OpenTelemetry collector that the environment names.
//! Assembly only: without such a name nothing is started and nothing is connected.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolcall::{Engine, EngineBuilder};
use toolcall_telemetry::{Redact, Settings, Telemetry, TraceParent, TurnSpan, TurnStart};

/// How long the end of the program may wait for a collector.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is told of calls, once an engine was made.
#[derive(Clone, Default)]
pub(crate) struct Tracing(Arc<OnceLock<Option<Told>>>);

struct Told {
    telemetry: Telemetry,
    /// Where it goes, for people.
    endpoint: String,
}

impl Tracing {
    /// Tells the calls of this engine, if anybody wants to know.
    pub(crate) fn attach(&self, engine: EngineBuilder) -> EngineBuilder {
        match self.0.get_or_init(begin) {
            Some(told) => engine.reader(told.telemetry.reader()),
            None => engine,
        }
    }

    /// One turn of this engine, until it is dropped. It is part of the trace that `TRACEPARENT` names.
    pub(crate) fn turn(&self, engine: &Engine) -> Option<TurnSpan> {
        let told = self.0.get()?.as_ref()?;
        let journal = engine.journal();
        let mut start = TurnStart::new(journal.session().clone()).agent("toolcall");
        let parent = variable("TRACEPARENT").and_then(|text| TraceParent::parse(&text).ok());
        if let Some(parent) = parent {
            let state = variable("TRACESTATE").unwrap_or_default();
            start = start.parent(parent.with_state(&state));
        }
        Some(told.telemetry.turn(start, journal.now()))
    }

    /// Sends what is left, and says what was lost.
    pub(crate) async fn close(&self) {
        let Some(Some(told)) = self.0.get() else {
            return;
        };
        let tally = told.telemetry.close(PATIENCE).await;
        if let Some(why) = tally.why {
            let (lost, endpoint) = (tally.dropped, &told.endpoint);
            anstream::eprintln!("warning: {lost} spans did not reach `{endpoint}`: {why}");
        }
    }
}

/// What is wrong with the settings is a warning: calls do not depend on who is told of them.
fn begin() -> Option<Told> {
    match start() {
        Ok(told) => told,
        Err(error) => {
            anstream::eprintln!("warning: no spans are sent: {error:#}");
            None
        }
    }
}

fn start() -> anyhow::Result<Option<Told>> {
    let Some(settings) = Settings::from_variables(variable, Redact::nothing())? else {
        return Ok(None);
    };
    let endpoint = settings.endpoint().to_string();
    let telemetry = Telemetry::start(settings)?;
    Ok(Some(Told {
        telemetry,
        endpoint,
    }))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
