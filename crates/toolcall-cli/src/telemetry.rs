//! Sends calls to the OpenTelemetry collector that the environment names.
//! Without such a variable nothing is started and nothing connects.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolcall::{Engine, EngineBuilder};
use toolcall_telemetry::{Redact, Settings, Telemetry, TraceParent, TurnSpan, TurnStart};

use crate::view::pluralize;

/// How long the program waits for the collector when it ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The telemetry of this program, which starts with the first engine.
#[derive(Clone, Default)]
pub(crate) struct Tracing(Arc<OnceLock<Option<ActiveTelemetry>>>);

struct ActiveTelemetry {
    telemetry: Telemetry,
    /// The address of the collector, for messages.
    endpoint: String,
}

impl Tracing {
    /// Sends the calls of this engine, if telemetry is configured.
    pub(crate) fn attach(&self, engine: EngineBuilder) -> EngineBuilder {
        match self.0.get_or_init(begin) {
            Some(active) => engine.reader(active.telemetry.reader()),
            None => engine,
        }
    }

    /// Begins the span of a turn, which ends when it is dropped. Its parent is the span that
    /// `TRACEPARENT` names.
    pub(crate) fn turn(&self, engine: &Engine) -> Option<TurnSpan> {
        let active = self.0.get()?.as_ref()?;
        let journal = engine.journal();
        let mut start = TurnStart::new(journal.session().clone()).agent("toolcall");
        let parent = variable("TRACEPARENT").and_then(|text| TraceParent::parse(&text).ok());
        if let Some(parent) = parent {
            let state = variable("TRACESTATE").unwrap_or_default();
            start = start.parent(parent.with_state(&state));
        }
        Some(active.telemetry.turn(start, journal.now()))
    }

    /// Flushes the spans, and warns if some were lost.
    pub(crate) async fn close(&self) {
        let Some(Some(active)) = self.0.get() else {
            return;
        };
        let tally = active.telemetry.close(CLOSE_TIMEOUT).await;
        if let Some(why) = tally.why {
            let (lost, endpoint) = (pluralize(tally.dropped, "span"), &active.endpoint);
            anstream::eprintln!("warning: {lost} did not reach `{endpoint}`: {why}");
        }
    }
}

/// Starts telemetry. An error is only a warning: calls do not depend on telemetry.
fn begin() -> Option<ActiveTelemetry> {
    match start() {
        Ok(active) => active,
        Err(error) => {
            anstream::eprintln!("warning: no spans are sent: {error:#}");
            None
        }
    }
}

fn start() -> anyhow::Result<Option<ActiveTelemetry>> {
    let Some(settings) = Settings::from_variables(variable, Redact::nothing())? else {
        return Ok(None);
    };
    let endpoint = settings.endpoint().to_string();
    let telemetry = Telemetry::start(settings)?;
    Ok(Some(ActiveTelemetry {
        telemetry,
        endpoint,
    }))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
