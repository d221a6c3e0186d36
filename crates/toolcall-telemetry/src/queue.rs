//! The queue of spans to be sent, bounded by number and by bytes; it counts every span.
//! Adding a span never waits: one that does not fit is dropped.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use prost::Message as _;
use tokio::sync::{Notify, watch};

use crate::collector::DeliveryError;

/// The largest number of spans in one request.
const MAX_BATCH: usize = 512;

/// The largest size of all queued spans, in bytes.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// How many spans were sent and dropped. After closing, every span is one or the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryStats {
    /// The number of spans that the collector accepted.
    pub sent: u64,
    /// The number of spans that were not delivered.
    pub dropped: u64,
    /// Why the first of them was dropped.
    pub why: Option<DeliveryError>,
}

/// The queue between the readers and the task that sends spans.
#[derive(Debug)]
pub(crate) struct SpanQueue {
    capacity: usize,
    state: Mutex<QueueState>,
    /// Notified when the first span arrives, and when a batch is full.
    wake: Notify,
    closing: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct QueueState {
    spans: VecDeque<(Span, usize)>,
    bytes: usize,
    /// Spans that were taken and neither sent nor dropped yet.
    in_flight: u64,
    is_closed: bool,
    stats: DeliveryStats,
}

/// How much is queued.
enum QueueLoad {
    Nothing,
    Partial,
    Batch,
}

impl SpanQueue {
    /// Creates a queue for this many spans.
    pub(crate) fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity: capacity.max(1),
            state: Mutex::default(),
            wake: Notify::new(),
            closing: watch::Sender::new(false),
        })
    }

    /// Adds a span, or drops it.
    pub(crate) fn push(&self, span: Span) {
        let bytes = span.encoded_len();
        let mut state = self.state.lock();
        if state.is_closed {
            return state.stats.drop_spans(1, DeliveryError::Closed);
        }
        if state.spans.len() >= self.capacity || state.bytes + bytes > MAX_BYTES {
            return state.stats.drop_spans(1, DeliveryError::Behind);
        }
        state.bytes += bytes;
        state.spans.push_back((span, bytes));
        let is_news = [1, self.batch()].contains(&state.spans.len());
        drop(state);
        if is_news {
            self.wake.notify_one();
        }
    }

    /// Returns a full batch at once, or fewer spans after the delay; `None` once the queue is closed and empty.
    pub(crate) async fn next_batch(&self, delay: Duration) -> Option<Vec<Span>> {
        let mut closing = self.closing.subscribe();
        loop {
            let is_closing = *closing.borrow_and_update();
            match self.load() {
                QueueLoad::Nothing if is_closing => return None,
                QueueLoad::Batch => return Some(self.take()),
                QueueLoad::Partial if is_closing => return Some(self.take()),
                QueueLoad::Partial => tokio::select! {
                    () = self.wake.notified() => {}
                    _ = closing.changed() => {}
                    () = tokio::time::sleep(delay) => return Some(self.take()),
                },
                QueueLoad::Nothing => tokio::select! {
                    () = self.wake.notified() => {}
                    _ = closing.changed() => {}
                },
            }
        }
    }

    /// Counts spans in flight as sent.
    pub(crate) fn record_sent(&self, spans: u64) {
        let mut state = self.state.lock();
        state.in_flight = state.in_flight.saturating_sub(spans);
        state.stats.sent += spans;
    }

    /// Counts spans in flight as dropped.
    pub(crate) fn record_dropped(&self, spans: u64, why: DeliveryError) {
        let mut state = self.state.lock();
        state.in_flight = state.in_flight.saturating_sub(spans);
        state.stats.drop_spans(spans, why);
    }

    /// Ends the delays, so that the queued spans are sent at once.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Returns whether the queue is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Waits this long, or until the queue is closed.
    pub(crate) async fn pause(&self, pause: Duration) {
        let mut closing = self.closing.subscribe();
        let closed = closing.wait_for(|closing| *closing);
        let _either = tokio::time::timeout(pause, closed).await;
    }

    /// Drops the remaining spans and rejects further ones.
    pub(crate) fn abandon(&self) -> DeliveryStats {
        let mut state = self.state.lock();
        state.is_closed = true;
        let left = state.spans.len() as u64 + state.in_flight;
        state.spans.clear();
        (state.bytes, state.in_flight) = (0, 0);
        if left > 0 {
            state.stats.drop_spans(left, DeliveryError::Closed);
        }
        state.stats.clone()
    }

    /// Returns how many spans were sent and dropped so far.
    pub(crate) fn stats(&self) -> DeliveryStats {
        self.state.lock().stats.clone()
    }

    /// Returns all queued spans.
    #[cfg(test)]
    pub(crate) fn drain(&self) -> Vec<Span> {
        let spans = std::mem::take(&mut self.state.lock().spans);
        spans.into_iter().map(|(span, _)| span).collect()
    }

    fn load(&self) -> QueueLoad {
        match self.state.lock().spans.len() {
            0 => QueueLoad::Nothing,
            some if some < self.batch() => QueueLoad::Partial,
            _enough => QueueLoad::Batch,
        }
    }

    fn take(&self) -> Vec<Span> {
        let mut state = self.state.lock();
        let count = state.spans.len().min(self.batch());
        let taken: Vec<_> = state.spans.drain(..count).collect();
        state.bytes -= taken.iter().map(|(_, bytes)| bytes).sum::<usize>();
        state.in_flight += count as u64;
        taken.into_iter().map(|(span, _)| span).collect()
    }

    fn batch(&self) -> usize {
        MAX_BATCH.min(self.capacity)
    }
}

impl DeliveryStats {
    fn drop_spans(&mut self, spans: u64, why: DeliveryError) {
        self.dropped += spans;
        self.why.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_secs(5);

    fn named(name: &str) -> Span {
        Span {
            name: name.to_owned(),
            ..Span::default()
        }
    }

    fn stats(sent: u64, dropped: u64, why: Option<DeliveryError>) -> DeliveryStats {
        DeliveryStats { sent, dropped, why }
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_wait_for_the_delay_and_a_batch_does_not() {
        let queue = SpanQueue::new(2 * MAX_BATCH);
        let began = tokio::time::Instant::now();
        queue.push(named("a"));
        assert_eq!(queue.next_batch(DELAY).await.unwrap().len(), 1);
        assert_eq!(began.elapsed(), DELAY);
        (0..MAX_BATCH + 1).for_each(|_| queue.push(named("a")));
        assert_eq!(queue.next_batch(DELAY).await.unwrap().len(), MAX_BATCH);
        assert_eq!(began.elapsed(), DELAY);
    }

    #[tokio::test(start_paused = true)]
    async fn when_it_closes_the_rest_goes_at_once_and_then_it_is_over() {
        let queue = SpanQueue::new(8);
        queue.push(named("a"));
        let began = tokio::time::Instant::now();
        let (batch, ()) = tokio::join!(queue.next_batch(DELAY), async { queue.close() });
        assert_eq!(batch, Some(vec![named("a")]));
        queue.record_sent(1);
        assert_eq!(queue.next_batch(DELAY).await, None);
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(queue.abandon(), stats(1, 0, None));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let queue = SpanQueue::new(3);
        (0..5).for_each(|_| queue.push(named("a")));
        assert_eq!(queue.stats(), stats(0, 2, Some(DeliveryError::Behind)));
        assert_eq!(queue.abandon(), stats(0, 5, Some(DeliveryError::Behind)));
        queue.push(named("late"));
        assert_eq!(queue.stats().dropped, 6);
    }

    #[test]
    fn large_spans_are_bounded_by_their_bytes() {
        let queue = SpanQueue::new(1000);
        let large = named(&"x".repeat(MAX_BYTES / 4));
        (0..10).for_each(|_| queue.push(large.clone()));
        assert_eq!(queue.stats(), stats(0, 7, Some(DeliveryError::Behind)));
        assert!(queue.state.lock().bytes <= MAX_BYTES);
    }

    #[test]
    fn what_is_under_way_when_it_gives_up_is_lost() {
        let queue = SpanQueue::new(8);
        (0..3).for_each(|_| queue.push(named("a")));
        assert_eq!(queue.take().len(), 3);
        queue.push(named("b"));
        assert_eq!(queue.abandon(), stats(0, 4, Some(DeliveryError::Closed)));
    }
}
