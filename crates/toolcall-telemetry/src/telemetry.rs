//! Telemetry as a whole: started once, attached to engines, closed at the end.
//! Only closing it waits, and no longer than its limit.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolcall::{CallId, SessionId, Timestamp};

use crate::collector::Collector;
use crate::delivery::Delivery;
use crate::queue::{DeliveryStats, SpanQueue};
use crate::reader::SpanReader;
use crate::settings::Settings;
use crate::span_tracker::SpanTracker;
use crate::trace::TraceParent;
use crate::turn::{TurnSpan, TurnStart};

/// Sends the spans of calls to a collector.
///
/// If it is dropped without [`Telemetry::close`], queued spans are still sent as long as the runtime lives.
pub struct Telemetry {
    spans: Arc<SpanTracker>,
    queue: Arc<SpanQueue>,
    delivering: Mutex<Option<JoinHandle<()>>>,
}

/// Why telemetry cannot start.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StartError {
    /// It was called outside of a tokio runtime.
    #[error("telemetry needs a tokio runtime; start it inside one")]
    NoRuntime,
    /// The system's certificates cannot be used.
    #[error("the system's certificates cannot be used: {0}")]
    Certificates(String),
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built: {0}")]
    Client(String),
}

impl Telemetry {
    /// Starts the task that sends spans, on the current tokio runtime. It connects once there are spans.
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let runtime = Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        let queue = SpanQueue::new(settings.queue_capacity);
        let delivery = Delivery {
            queue: queue.clone(),
            collector: Collector::new(&settings)?,
            content: settings.content.clone(),
            delay: settings.delay,
        };
        Ok(Self {
            spans: Arc::new(SpanTracker::new(settings.content, queue.clone())),
            queue,
            delivering: Mutex::new(Some(runtime.spawn(delivery.run()))),
        })
    }

    /// Returns a reader for an engine. Several engines may have one each.
    pub fn reader(&self) -> SpanReader {
        SpanReader::new(self.spans.clone())
    }

    /// Begins the span of a turn at a timestamp of its journal.
    pub fn turn(&self, start: TurnStart, at: Timestamp) -> TurnSpan {
        TurnSpan::begin(self.spans.clone(), start, at)
    }

    /// Returns the trace context of an open call, for requests that it makes.
    pub fn trace_of(&self, session: &SessionId, call: &CallId) -> Option<TraceParent> {
        self.spans.trace_of(session, call)
    }

    /// Returns how many spans were sent and dropped so far.
    pub fn stats(&self) -> DeliveryStats {
        self.queue.stats()
    }

    /// Sends the queued spans for at most this long, and drops the rest. Later spans are dropped.
    pub async fn close(&self, limit: Duration) -> DeliveryStats {
        self.queue.close();
        let delivering = self.delivering.lock().take();
        if let Some(mut delivering) = delivering
            && tokio::time::timeout(limit, &mut delivering).await.is_err()
        {
            delivering.abort();
            let _aborted = delivering.await;
        }
        self.queue.abandon()
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.queue.close();
    }
}
