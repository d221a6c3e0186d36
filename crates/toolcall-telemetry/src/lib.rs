//! Calls as OpenTelemetry spans, sent to a collector over OTLP (http/protobuf).
//! It reads what the journal shows and never holds a call up: what cannot be sent in time is dropped and counted.
//!
//! Nothing is connected until there are [`Settings`], a [`Telemetry`] was started with them, and a call has ended.
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
//! let tally = telemetry.close(Duration::from_secs(2)).await;
//! println!("{} sent, {} dropped", tally.sent, tally.dropped);
//! # Ok(())
//! # }
//! ```

mod attributes;
mod collector;
mod content;
mod delivery;
mod node;
mod phase;
mod queue;
mod reader;
mod settings;
mod span;
mod spans;
mod telemetry;
mod trace;
mod turn;
mod variables;

pub use collector::DeliveryError;
pub use content::{Content, Redact};
pub use queue::Tally;
pub use reader::SpanReader;
pub use settings::{Endpoint, Settings, SettingsError};
pub use telemetry::{StartError, Telemetry};
pub use trace::{TraceError, TraceParent};
pub use turn::{TurnSpan, TurnStart};
