//! Spans that wait to be sent: bounded by number and by bytes, and every one of them accounted for.
//! Whoever puts one in never waits; what does not fit is dropped and counted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use prost::Message as _;
use tokio::sync::{Notify, watch};

use crate::collector::DeliveryError;

/// How many spans go out together at most.
const BATCH: usize = 512;

/// How many bytes may wait, whatever the number of spans.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What became of the spans. `sent + dropped` is all of them once everything is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The collector took so many.
    pub sent: u64,
    /// So many were lost.
    pub dropped: u64,
    /// Why the first of them was.
    pub why: Option<DeliveryError>,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    room: usize,
    waiting: Mutex<Waiting>,
    /// Rings when there is a first span, and when a batch is full.
    bell: Notify,
    closing: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Waiting {
    spans: VecDeque<(Span, usize)>,
    bytes: usize,
    /// Taken out, and neither sent nor dropped yet.
    under_way: u64,
    is_closed: bool,
    tally: Tally,
}

/// How much there is to send.
enum Load {
    Nothing,
    Some,
    Batch,
}

impl Queue {
    /// Room for so many spans.
    pub(crate) fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            room: room.max(1),
            waiting: Mutex::default(),
            bell: Notify::new(),
            closing: watch::Sender::new(false),
        })
    }

    /// Puts a span in, or drops it.
    pub(crate) fn push(&self, span: Span) {
        let bytes = span.encoded_len();
        let mut waiting = self.waiting.lock();
        if waiting.is_closed {
            return waiting.tally.lose(1, DeliveryError::Closed);
        }
        if waiting.spans.len() >= self.room || waiting.bytes + bytes > MOST_BYTES {
            return waiting.tally.lose(1, DeliveryError::Behind);
        }
        waiting.bytes += bytes;
        waiting.spans.push_back((span, bytes));
        let is_news = [1, self.batch()].contains(&waiting.spans.len());
        drop(waiting);
        if is_news {
            self.bell.notify_one();
        }
    }

    /// The next spans: a whole batch at once, fewer after this delay; none when all is over.
    pub(crate) async fn next_batch(&self, delay: Duration) -> Option<Vec<Span>> {
        let mut closing = self.closing.subscribe();
        loop {
            let is_closing = *closing.borrow_and_update();
            match self.load() {
                Load::Nothing if is_closing => return None,
                Load::Batch => return Some(self.take()),
                Load::Some if is_closing => return Some(self.take()),
                Load::Some => tokio::select! {
                    () = self.bell.notified() => {}
                    _ = closing.changed() => {}
                    () = tokio::time::sleep(delay) => return Some(self.take()),
                },
                Load::Nothing => tokio::select! {
                    () = self.bell.notified() => {}
                    _ = closing.changed() => {}
                },
            }
        }
    }

    /// So many of those under way arrived.
    pub(crate) fn sent(&self, spans: u64) {
        let mut waiting = self.waiting.lock();
        waiting.under_way = waiting.under_way.saturating_sub(spans);
        waiting.tally.sent += spans;
    }

    /// So many of those under way were lost.
    pub(crate) fn lost(&self, spans: u64, why: DeliveryError) {
        let mut waiting = self.waiting.lock();
        waiting.under_way = waiting.under_way.saturating_sub(spans);
        waiting.tally.lose(spans, why);
    }

    /// From now on only what is there is sent, and without delay.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Whether it is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Waits this long, or until it is closed.
    pub(crate) async fn pause(&self, pause: Duration) {
        let mut closing = self.closing.subscribe();
        let closed = closing.wait_for(|closing| *closing);
        let _either = tokio::time::timeout(pause, closed).await;
    }

    /// Drops what is left and takes nothing any more.
    pub(crate) fn give_up(&self) -> Tally {
        let mut waiting = self.waiting.lock();
        waiting.is_closed = true;
        let left = waiting.spans.len() as u64 + waiting.under_way;
        waiting.spans.clear();
        (waiting.bytes, waiting.under_way) = (0, 0);
        if left > 0 {
            waiting.tally.lose(left, DeliveryError::Closed);
        }
        waiting.tally.clone()
    }

    /// What became of the spans so far.
    pub(crate) fn tally(&self) -> Tally {
        self.waiting.lock().tally.clone()
    }

    /// Everything that waits.
    #[cfg(test)]
    pub(crate) fn drain(&self) -> Vec<Span> {
        let spans = std::mem::take(&mut self.waiting.lock().spans);
        spans.into_iter().map(|(span, _)| span).collect()
    }

    fn load(&self) -> Load {
        match self.waiting.lock().spans.len() {
            0 => Load::Nothing,
            some if some < self.batch() => Load::Some,
            _enough => Load::Batch,
        }
    }

    fn take(&self) -> Vec<Span> {
        let mut waiting = self.waiting.lock();
        let count = waiting.spans.len().min(self.batch());
        let taken: Vec<_> = waiting.spans.drain(..count).collect();
        waiting.bytes -= taken.iter().map(|(_, bytes)| bytes).sum::<usize>();
        waiting.under_way += count as u64;
        taken.into_iter().map(|(span, _)| span).collect()
    }

    fn batch(&self) -> usize {
        BATCH.min(self.room)
    }
}

impl Tally {
    fn lose(&mut self, spans: u64, why: DeliveryError) {
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

    fn tally(sent: u64, dropped: u64, why: Option<DeliveryError>) -> Tally {
        Tally { sent, dropped, why }
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_wait_for_the_delay_and_a_batch_does_not() {
        let queue = Queue::new(2 * BATCH);
        let began = tokio::time::Instant::now();
        queue.push(named("a"));
        assert_eq!(queue.next_batch(DELAY).await.unwrap().len(), 1);
        assert_eq!(began.elapsed(), DELAY);
        (0..BATCH + 1).for_each(|_| queue.push(named("a")));
        assert_eq!(queue.next_batch(DELAY).await.unwrap().len(), BATCH);
        assert_eq!(began.elapsed(), DELAY);
    }

    #[tokio::test(start_paused = true)]
    async fn when_it_closes_the_rest_goes_at_once_and_then_it_is_over() {
        let queue = Queue::new(8);
        queue.push(named("a"));
        let began = tokio::time::Instant::now();
        let (batch, ()) = tokio::join!(queue.next_batch(DELAY), async { queue.close() });
        assert_eq!(batch, Some(vec![named("a")]));
        queue.sent(1);
        assert_eq!(queue.next_batch(DELAY).await, None);
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(queue.give_up(), tally(1, 0, None));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let queue = Queue::new(3);
        (0..5).for_each(|_| queue.push(named("a")));
        assert_eq!(queue.tally(), tally(0, 2, Some(DeliveryError::Behind)));
        assert_eq!(queue.give_up(), tally(0, 5, Some(DeliveryError::Behind)));
        queue.push(named("late"));
        assert_eq!(queue.tally().dropped, 6);
    }

    #[test]
    fn large_spans_are_bounded_by_their_bytes() {
        let queue = Queue::new(1000);
        let large = named(&"x".repeat(MOST_BYTES / 4));
        (0..10).for_each(|_| queue.push(large.clone()));
        assert_eq!(queue.tally(), tally(0, 7, Some(DeliveryError::Behind)));
        assert!(queue.waiting.lock().bytes <= MOST_BYTES);
    }

    #[test]
    fn what_is_under_way_when_it_gives_up_is_lost() {
        let queue = Queue::new(8);
        (0..3).for_each(|_| queue.push(named("a")));
        assert_eq!(queue.take().len(), 3);
        queue.push(named("b"));
        assert_eq!(queue.give_up(), tally(0, 4, Some(DeliveryError::Closed)));
    }
}
