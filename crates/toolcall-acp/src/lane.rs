//! The lane: one queue of lines to the peer, bounded by bytes and shared by all senders.
//! It must not parse a line, nor interleave two lines.

#[cfg(test)]
mod tests;

use std::io;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use thiserror::Error;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// How many bytes may be added after a sender waited for room, before the next waiting sender has its
/// turn. One line each would cost a task switch for every line.
const BURST: usize = 64 * 1024;

/// This many bytes are written at once. Fewer wait for [`BATCH_DELAY`], if lines follow each other
/// closely.
const FULL_BATCH: usize = 64 * 1024;
const BATCH_DELAY: Duration = Duration::from_millis(1);

/// The sending end of a bounded queue of lines. Cheap to clone.
///
/// ```
/// use toolcall_acp::lane::{Lane, TrySendError};
///
/// let (lane, _reader) = Lane::new(4);
/// let write = |line: &mut Vec<u8>| line.extend_from_slice(b"hello");
/// assert_eq!(lane.try_send(write), Ok(6));
/// assert_eq!(lane.try_send(write), Err(TrySendError::Full));
/// ```
#[derive(Clone)]
pub struct Lane(Arc<LaneInner>);

/// The receiving end of a lane, which writes the lines. Dropping it closes the lane.
pub struct LaneReader {
    lane: Arc<LaneInner>,
    /// The bytes that are being written; the buffer is reused between writes.
    batch: Vec<u8>,
}

/// The lane is closed and accepts no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the lane to the peer is closed")]
pub struct Closed;

/// Why a line was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TrySendError {
    /// There is no room now, or other senders wait for it.
    #[error("the lane to the peer is full")]
    Full,
    /// The lane is closed.
    #[error("the lane to the peer is closed")]
    Closed,
}

/// How much went through a lane so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounters {
    /// Lines accepted.
    pub lines: u64,
    /// Bytes accepted, including newlines.
    pub bytes: u64,
    /// The most bytes that ever waited to be written.
    pub max_pending: usize,
    /// Batches handed to the writer.
    pub writes: u64,
}

struct LaneInner {
    capacity: usize,
    state: Mutex<LaneState>,
    /// Notified when a line enters an empty lane, or the lane is closed.
    filled: Notify,
    /// Notified when enough bytes for a write are pending, or the lane is closed.
    batch_full: Notify,
    /// Notified when everything pending was taken, or the lane is closed. Only the sender with the turn
    /// waits for it.
    emptied: Notify,
    /// Held by the first sender that waits for room. It is passed on in the order of arrival.
    turn: Semaphore,
}

#[derive(Default)]
struct LaneState {
    pending: Vec<u8>,
    closed: bool,
    /// How many bytes may still be added although other senders wait.
    granted: usize,
    counters: LaneCounters,
}

impl Lane {
    /// Creates a lane that accepts lines while fewer than `capacity` bytes are pending. The reader may
    /// hold as many again.
    pub fn new(capacity: usize) -> (Self, LaneReader) {
        let lane = Arc::new(LaneInner {
            capacity: capacity.max(1),
            state: Mutex::default(),
            filled: Notify::new(),
            batch_full: Notify::new(),
            emptied: Notify::new(),
            turn: Semaphore::new(1),
        });
        let batch = Vec::new();
        (Self(lane.clone()), LaneReader { lane, batch })
    }

    /// Appends one line if fewer than `capacity` bytes are pending (this line may exceed it) and no
    /// other sender waits for room. Returns its bytes on the wire.
    ///
    /// `write` appends the line without its newline, must not use the lane, and is not called
    /// when the line is not accepted. If it appends nothing, there is no line.
    pub fn try_send(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<usize, TrySendError> {
        let mut state = self.0.entry()?;
        Ok(self.0.append(&mut state, write))
    }

    /// Like [`try_send`](Self::try_send), for several lines of JSON that belong together: the lane
    /// accepts all of them or none.
    pub(crate) fn try_send_all(
        &self,
        write: impl FnOnce(&mut Group<'_>),
    ) -> Result<usize, TrySendError> {
        let mut state = self.0.entry()?;
        let before = state.pending.len();
        let bytes = state.append_all(write);
        self.0.notify_writer(before, bytes);
        Ok(bytes)
    }

    /// Appends one line even if the lane is full: for the few small ones that must be sent, such as a
    /// withdrawal. The caller must bound their number.
    pub fn send_urgent(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<usize, Closed> {
        let mut state = self.0.state.lock();
        if state.closed {
            return Err(Closed);
        }
        Ok(self.0.append(&mut state, write))
    }

    /// Waits for room, then appends the line. If the future is dropped before that, nothing is appended.
    pub async fn send(&self, line: &[u8]) -> Result<(), Closed> {
        self.send_with(|pending| pending.extend_from_slice(line))
            .await
            .map(|_bytes| ())
    }

    /// Like [`send`](Self::send), for a line that is written when there is room.
    pub(crate) async fn send_with(
        &self,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<usize, Closed> {
        match self.0.entry() {
            Ok(mut state) => return Ok(self.0.append(&mut state, write)),
            Err(TrySendError::Closed) => return Err(Closed),
            Err(TrySendError::Full) => {}
        }
        self.0.wait_and(|state| self.0.append(state, write)).await
    }

    /// Like [`try_send_all`](Self::try_send_all), waiting for room.
    pub(crate) async fn send_all(&self, write: impl FnOnce(&mut Group<'_>)) -> Result<(), Closed> {
        let append = |state: &mut LaneState| {
            let before = state.pending.len();
            let bytes = state.append_all(write);
            self.0.notify_writer(before, bytes);
        };
        match self.0.entry() {
            Ok(mut state) => {
                append(&mut state);
                return Ok(());
            }
            Err(TrySendError::Closed) => return Err(Closed),
            Err(TrySendError::Full) => {}
        }
        self.0.wait_and(append).await
    }

    /// Waits until there is room. A future that is kept but not polled blocks the senders after it.
    pub async fn room(&self) -> Result<(), Closed> {
        if self.has_room()? {
            return Ok(());
        }
        self.0.wait_and(|_| ()).await
    }

    /// Whether a line would be accepted now.
    pub(crate) fn has_room(&self) -> Result<bool, Closed> {
        match self.0.entry() {
            Ok(_) => Ok(true),
            Err(TrySendError::Full) => Ok(false),
            Err(TrySendError::Closed) => Err(Closed),
        }
    }

    /// Whether the lane is closed.
    pub fn is_closed(&self) -> bool {
        self.0.state.lock().closed
    }

    /// Closes the lane. Pending lines are still written.
    pub fn close(&self) {
        self.0.state.lock().closed = true;
        self.0.notify_closed();
    }

    /// Returns how much went through so far.
    pub fn counters(&self) -> LaneCounters {
        self.0.state.lock().counters
    }
}

impl LaneInner {
    /// Locks the state, if a sender that did not wait may add a line.
    fn entry(&self) -> Result<MutexGuard<'_, LaneState>, TrySendError> {
        let state = self.state.lock();
        let is_contended = self.turn.available_permits() == 0;
        if state.closed {
            return Err(TrySendError::Closed);
        }
        if !self.has_space(&state) || (is_contended && state.granted == 0) {
            return Err(TrySendError::Full);
        }
        Ok(state)
    }

    /// Returns how many pending bytes make a batch. A small lane is full before [`FULL_BATCH`], and then
    /// no more would come.
    fn full_batch(&self) -> usize {
        self.capacity.min(FULL_BATCH)
    }

    fn has_space(&self, state: &LaneState) -> bool {
        state.pending.len() < self.capacity
    }

    /// Waits behind earlier senders, then for space, then calls `act`.
    async fn wait_and<T>(&self, act: impl FnOnce(&mut LaneState) -> T) -> Result<T, Closed> {
        let _turn = self.turn().await?;
        loop {
            {
                let mut state = self.state.lock();
                if state.closed {
                    return Err(Closed);
                }
                if self.has_space(&state) {
                    state.granted = BURST;
                    return Ok(act(&mut state));
                }
            }
            self.emptied.notified().await;
        }
    }

    async fn turn(&self) -> Result<SemaphorePermit<'_>, Closed> {
        self.turn.acquire().await.map_err(|_| Closed)
    }

    fn append(&self, state: &mut LaneState, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let before = state.pending.len();
        let bytes = state.append(write);
        self.notify_writer(before, bytes);
        bytes
    }

    /// Wakes the reader for the first line in an empty lane, and for the line that completes a batch. It
    /// checks the lane by itself after each batch.
    fn notify_writer(&self, before: usize, bytes: usize) {
        if before == 0 && bytes > 0 {
            self.filled.notify_one();
        }
        if before < self.full_batch() && before + bytes >= self.full_batch() {
            self.batch_full.notify_one();
        }
    }

    fn notify_closed(&self) {
        self.turn.close();
        self.emptied.notify_one();
        self.filled.notify_one();
        self.batch_full.notify_one();
    }
}

impl LaneState {
    fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let bytes = append_line(&mut self.pending, write);
        self.count(bytes, u64::from(bytes > 0));
        bytes
    }

    fn append_all(&mut self, write: impl FnOnce(&mut Group<'_>)) -> usize {
        let start = self.pending.len();
        let whole = UnfinishedWrite {
            pending: &mut self.pending,
            start,
        };
        let mut group = Group {
            pending: &mut *whole.pending,
            lines: 0,
        };
        write(&mut group);
        let lines = group.lines;
        let bytes = whole.finish() - start;
        self.count(bytes, lines);
        bytes
    }

    fn count(&mut self, bytes: usize, lines: u64) {
        self.granted = self.granted.saturating_sub(bytes);
        self.counters.lines += lines;
        self.counters.bytes += bytes as u64;
        self.counters.max_pending = self.counters.max_pending.max(self.pending.len());
    }
}

/// Lines that enter the lane together.
pub(crate) struct Group<'a> {
    pending: &'a mut Vec<u8>,
    lines: u64,
}

impl Group<'_> {
    /// Adds one line of JSON from our own encoders, which contains no newline.
    pub(crate) fn line(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.pending.len();
        let line = UnfinishedWrite {
            pending: self.pending,
            start,
        };
        write(line.pending);
        debug_assert!(!line.pending[start..].contains(&b'\n'), "a torn line");
        line.pending.push(b'\n');
        line.finish();
        self.lines += 1;
    }
}

fn append_line(pending: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> usize {
    let start = pending.len();
    let line = UnfinishedWrite { pending, start };
    write(line.pending);
    if line.pending.len() <= start {
        return 0;
    }
    // A newline would split the line in two. In JSON it can only be white space, and it is rare.
    let has_break = line.pending[start..].contains(&b'\n');
    let breaks = line.pending[start..].iter_mut().filter(|_| has_break);
    for byte in breaks {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    line.pending.push(b'\n');
    line.finish() - start
}

/// A line that is removed again unless it is finished, because the closure that writes it may panic.
struct UnfinishedWrite<'a> {
    pending: &'a mut Vec<u8>,
    start: usize,
}

impl UnfinishedWrite<'_> {
    fn finish(mut self) -> usize {
        self.start = self.pending.len();
        self.start
    }
}

impl Drop for UnfinishedWrite<'_> {
    fn drop(&mut self) {
        self.pending.truncate(self.start);
    }
}

impl LaneReader {
    /// Writes the lines, many at a time, until the lane is closed and empty or writing fails. Flushes
    /// whenever nothing more is pending, and shuts the writer down at the end.
    pub async fn drain(mut self, mut writer: impl AsyncWrite + Unpin + Send) -> io::Result<()> {
        while self.fill().await {
            writer.write_all(&self.batch).await?;
            if self.is_drained() {
                writer.flush().await?;
            }
            self.recycle();
            self.wait_for_batch().await;
        }
        // Everything is written; it is no error if the peer closed its end meanwhile.
        let _hung_up = writer.shutdown().await;
        Ok(())
    }

    /// Waits until something is pending and takes all of it. Returns false when the lane is closed.
    async fn fill(&mut self) -> bool {
        loop {
            {
                let mut state = self.lane.state.lock();
                if !state.pending.is_empty() {
                    mem::swap(&mut state.pending, &mut self.batch);
                    state.counters.writes += 1;
                    self.lane.emptied.notify_one();
                    return true;
                }
                if state.closed {
                    return false;
                }
            }
            self.lane.filled.notified().await;
        }
    }

    fn is_drained(&self) -> bool {
        self.lane.state.lock().pending.is_empty()
    }

    /// Waits shortly for more lines. The first line after a pause is written at once; those right behind
    /// it are batched, because writing many lines costs little more than writing one.
    async fn wait_for_batch(&self) {
        let batch_full = self.lane.batch_full.notified();
        let pending = self.lane.state.lock().pending.len();
        if (1..self.lane.full_batch()).contains(&pending) {
            let _elapsed = timeout(BATCH_DELAY, batch_full).await;
        }
    }

    /// Clears the batch, and frees the memory of a huge line.
    fn recycle(&mut self) {
        self.batch.clear();
        let usual = self.lane.capacity.max(BURST);
        if self.batch.capacity() / 2 > usual {
            self.batch.shrink_to(usual);
        }
    }
}

impl Drop for LaneReader {
    fn drop(&mut self) {
        let mut state = self.lane.state.lock();
        state.closed = true;
        state.pending = Vec::new();
        drop(state);
        self.lane.notify_closed();
    }
}
