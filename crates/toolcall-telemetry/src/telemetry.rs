//! Telemetry as a whole: started once, shown to engines, closed at the end.
//! It puts the parts together and holds nobody up but the one who closes it, for as long as they allow.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolcall::{CallId, SessionId, Timestamp};

use crate::collector::Collector;
use crate::delivery::Delivery;
use crate::queue::{Queue, Tally};
use crate::reader::SpanReader;
use crate::settings::Settings;
use crate::spans::Spans;
use crate::trace::TraceParent;
use crate::turn::{TurnSpan, TurnStart};

/// Spans of calls on their way to a collector. Dropped without being closed, what waits is still
/// sent as long as the runtime lives.
pub struct Telemetry {
    spans: Arc<Spans>,
    queue: Arc<Queue>,
    delivering: Mutex<Option<JoinHandle<()>>>,
}

/// Why telemetry cannot begin.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StartError {
    /// There is no runtime.
    #[error("spans are sent by a task, and there is no tokio runtime here to start it on")]
    NoRuntime,
    /// The system's certificates cannot be used.
    #[error("the system's certificates cannot be used: {0}")]
    Certificates(String),
    /// There is no way to send anything.
    #[error("no HTTP client can be made: {0}")]
    Client(String),
}

impl Telemetry {
    /// Begins, on the runtime that this is called in. Nothing is connected before there are spans.
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let runtime = Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        let queue = Queue::new(settings.room);
        let delivery = Delivery {
            queue: queue.clone(),
            collector: Collector::new(&settings)?,
            content: settings.content.clone(),
            delay: settings.delay,
        };
        Ok(Self {
            spans: Arc::new(Spans::new(settings.content, queue.clone())),
            queue,
            delivering: Mutex::new(Some(runtime.spawn(delivery.run()))),
        })
    }

    /// A reader for an engine. Several engines may have one each.
    pub fn reader(&self) -> SpanReader {
        SpanReader::new(self.spans.clone())
    }

    /// Begins the span of a turn at this moment of its journal.
    pub fn turn(&self, start: TurnStart, at: Timestamp) -> TurnSpan {
        TurnSpan::begin(self.spans.clone(), start, at)
    }

    /// The span of an open call, to be handed on to what it calls.
    pub fn trace_of(&self, session: &SessionId, call: &CallId) -> Option<TraceParent> {
        self.spans.trace_of(session, call)
    }

    /// What became of the spans so far.
    pub fn tally(&self) -> Tally {
        self.queue.tally()
    }

    /// Sends what is left, for at most this long, and drops the rest. After that nothing is taken.
    pub async fn close(&self, limit: Duration) -> Tally {
        self.queue.close();
        let delivering = self.delivering.lock().take();
        if let Some(mut delivering) = delivering
            && tokio::time::timeout(limit, &mut delivering).await.is_err()
        {
            delivering.abort();
            let _aborted = delivering.await;
        }
        self.queue.give_up()
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.queue.close();
    }
}
