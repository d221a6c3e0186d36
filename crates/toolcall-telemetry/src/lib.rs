//! Sends calls as OpenTelemetry spans to a collector, over OTLP (http/protobuf).
//! It reads the events of a journal and never delays a call: spans that cannot be sent in time are dropped and counted.
//!
//! Nothing is connected until a [`Telemetry`] was started and has a span to send.
//!
//! ```no_run
//! # async fn example(tools: toolcall::Registry) -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use toolcall::Engine;
//! use toolcall_telemetry::{Settings, Telemetry, TurnStart};
//!
//! let telemetry = Telemetry::start(Settings::new("http://localhost:4318/v1/traces")?)?;
//! let engine = Engine::builder(tools).reader(telemetry.reader()).build();
//! let journal = engine.journal();
//! let span = telemetry.turn(TurnStart::new(journal.session().clone()), journal.now());
//! // … calls …
//! span.end(journal.now());
//! let stats = telemetry.close(Duration::from_secs(2)).await;
//! println!("{} sent, {} dropped", stats.sent, stats.dropped);
//! # Ok(())
//! # }
//! ```
//!
//! # Configure
//!
//! - [`Settings`] names the collector, its headers and the limits; [`Settings::from_variables`] reads the
//!   `OTEL_…` environment variables.
//! - [`ContentCapture`] switches on inputs and outputs, which are off by default; [`Redact`] redacts them.
//!
//! # Run
//!
//! - [`Telemetry`] starts the task that sends spans, and makes a [`SpanReader`] for each engine.
//! - [`TurnSpan`] groups the calls of a turn under one span; [`TurnStart`] describes the turn.
//! - [`TraceParent`] links spans across processes, as W3C trace context does.
//! - [`DeliveryStats`] counts sent and dropped spans; [`DeliveryError`] is why spans were dropped.

mod attributes;
mod collector;
mod content;
mod delivery;
mod phase;
mod queue;
mod reader;
mod settings;
mod span;
mod span_ids;
mod span_tracker;
mod telemetry;
mod trace;
mod turn;
mod variables;

pub use collector::DeliveryError;
pub use content::{ContentCapture, Redact};
pub use queue::DeliveryStats;
pub use reader::SpanReader;
pub use settings::{Endpoint, Settings, TelemetryConfigError};
pub use telemetry::{StartError, Telemetry};
pub use trace::{TraceError, TraceParent};
pub use turn::{TurnSpan, TurnStart};
