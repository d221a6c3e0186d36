//! Takes spans from the queue and brings them to the collector, until the queue is closed and empty.
//! Whatever the collector does, no call notices: this is a task of its own.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::Span;

use crate::collector::{Again, Collector, DeliveryError, Failure};
use crate::content::Content;
use crate::queue::Queue;

/// How often one batch is tried.
const TRIES: u32 = 3;

/// The pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause, whatever a collector wishes.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What brings spans to their collector.
pub(crate) struct Delivery {
    pub(crate) queue: Arc<Queue>,
    pub(crate) collector: Collector,
    pub(crate) content: Content,
    pub(crate) delay: Duration,
}

impl Delivery {
    /// Works until there is nothing left to do.
    pub(crate) async fn run(self) {
        let mut was_told = Told::NotYet;
        while let Some(batch) = self.queue.next_batch(self.delay).await {
            self.deliver(batch).await;
            was_told = self.tell(was_told);
        }
    }

    async fn deliver(&self, mut batch: Vec<Span>) {
        if let Content::Sent(redact) = &self.content {
            batch.iter_mut().for_each(|span| redact.apply(span));
        }
        let spans = batch.len() as u64;
        let body = self.collector.encode(batch);
        let mut pause = FIRST_PAUSE;
        for tries_left in (0..TRIES).rev() {
            let Failure { error, again } = match self.collector.post(body.clone()).await {
                Ok(rejection) => {
                    let rejected = rejection.spans.min(spans);
                    self.queue.sent(spans - rejected);
                    return self.reject(rejected, rejection.why);
                }
                Err(failure) => failure,
            };
            let wished = match again {
                Again::Never => return self.queue.lost(spans, error),
                Again::Sometime => pause,
                Again::After(wished) => wished,
            };
            if tries_left == 0 || self.queue.is_closing() {
                return self.queue.lost(spans, error);
            }
            self.queue.pause(wished.min(LONGEST_PAUSE)).await;
            pause *= 2;
        }
    }

    fn reject(&self, spans: u64, why: String) {
        if spans > 0 {
            self.queue.lost(spans, DeliveryError::Rejected(why));
        }
    }

    /// Says once that spans are lost. Only here: a reader must not wait for whoever listens.
    fn tell(&self, told: Told) -> Told {
        match (told, self.queue.tally().why) {
            (Told::NotYet, Some(why)) => {
                let endpoint = self.collector.endpoint();
                tracing::warn!(%endpoint, "spans are dropped: {why}");
                Told::Once
            }
            (Told::NotYet, None) => Told::NotYet,
            (Told::Once, _) => Told::Once,
        }
    }
}

/// Whether it was said that spans are lost.
#[derive(Clone, Copy)]
enum Told {
    NotYet,
    Once,
}
