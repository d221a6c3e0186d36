//! The task that sends queued spans to the collector, with retries.
//! No failure of the collector affects a call.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::Span;

use crate::collector::{Collector, DeliveryError, PostError, Retry};
use crate::content::ContentCapture;
use crate::queue::SpanQueue;

/// How often one batch is sent at most.
const MAX_TRIES: u32 = 3;

/// The pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause, whatever the collector requests.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The state of the sending task.
pub(crate) struct Delivery {
    pub(crate) queue: Arc<SpanQueue>,
    pub(crate) collector: Collector,
    pub(crate) content: ContentCapture,
    pub(crate) delay: Duration,
}

impl Delivery {
    /// Sends batches until the queue is closed and empty.
    pub(crate) async fn run(self) {
        let mut has_warned = false;
        while let Some(batch) = self.queue.next_batch(self.delay).await {
            self.deliver(batch).await;
            self.warn_once(&mut has_warned);
        }
    }

    async fn deliver(&self, mut batch: Vec<Span>) {
        if let ContentCapture::On(redact) = &self.content {
            batch.iter_mut().for_each(|span| redact.apply(span));
        }
        let spans = batch.len() as u64;
        let body = self.collector.encode(batch);
        let mut pause = FIRST_PAUSE;
        for tries_left in (0..MAX_TRIES).rev() {
            let PostError { error, retry } = match self.collector.post(body.clone()).await {
                Ok(rejection) => {
                    let rejected = rejection.spans.min(spans);
                    self.queue.record_sent(spans - rejected);
                    return self.reject(rejected, rejection.why);
                }
                Err(failure) => failure,
            };
            let requested = match retry {
                Retry::Never => return self.queue.record_dropped(spans, error),
                Retry::Later => pause,
                Retry::After(requested) => requested,
            };
            if tries_left == 0 || self.queue.is_closing() {
                return self.queue.record_dropped(spans, error);
            }
            self.queue.pause(requested.min(MAX_PAUSE)).await;
            pause *= 2;
        }
    }

    fn reject(&self, spans: u64, why: String) {
        if spans > 0 {
            self.queue
                .record_dropped(spans, DeliveryError::Rejected(why));
        }
    }

    /// Logs the first loss. A reader must never wait for a log subscriber, so only this task logs.
    fn warn_once(&self, has_warned: &mut bool) {
        if *has_warned {
            return;
        }
        if let Some(error) = self.queue.stats().why {
            let endpoint = self.collector.endpoint();
            tracing::warn!(%endpoint, "spans are dropped: {error}");
            *has_warned = true;
        }
    }
}
