//! Replaces `telemetry.rs` in a program built without the feature.
//! It does nothing, whatever the environment says.

use toolcall::{Engine, EngineBuilder};

/// Telemetry that sends nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tracing;

/// A turn without a span.
pub(crate) struct NoTurnSpan;

impl Tracing {
    pub(crate) fn attach(&self, engine: EngineBuilder) -> EngineBuilder {
        engine
    }

    pub(crate) fn turn(&self, _engine: &Engine) -> NoTurnSpan {
        NoTurnSpan
    }

    pub(crate) async fn close(&self) {}
}
