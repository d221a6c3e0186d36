//! The lane: one queue of lines to the peer, bounded by bytes, shared by everybody who writes.
//! It must not look into a line, nor let one line into the middle of another.

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

/// How many bytes whoever waited for room may add before it is the turn of the next who waits.
/// One line each would cost a change of task for every line.
const BURST: usize = 64 * 1024;

/// So many bytes are worth a write; fewer wait a moment for more, if lines come one after the other.
const GATHERED: usize = 64 * 1024;
const MOMENT: Duration = Duration::from_millis(1);

/// A handle to write lines with. Cheap to clone.
#[derive(Clone)]
pub struct Lane(Arc<Shared>);

/// The end of the lane at which lines come out. Dropping it closes the lane.
pub struct LaneReader {
    lane: Arc<Shared>,
    /// What is being written, and the spare buffer between two writes.
    batch: Vec<u8>,
}

/// No line goes in any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the lane to the peer is closed")]
pub struct Closed;

/// Why a line was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TrySendError {
    /// There is no room now, or others waited longer for it.
    #[error("the lane to the peer is full")]
    Full,
    /// There will never be.
    #[error("the lane to the peer is closed")]
    Closed,
}

/// What went through a lane so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounters {
    /// Lines taken.
    pub lines: u64,
    /// Bytes taken, newlines included.
    pub bytes: u64,
    /// Most bytes that ever waited to be written.
    pub deepest: usize,
    /// Batches handed to the writer.
    pub writes: u64,
}

struct Shared {
    capacity: usize,
    state: Mutex<State>,
    /// The first line entered an empty lane, or the lane was closed.
    filled: Notify,
    /// Enough lines are there to be worth a write, or the lane was closed.
    pressed: Notify,
    /// Everything pending was taken out, or the lane was closed. Only who has the turn listens.
    emptied: Notify,
    /// Held by the first of those who wait for room. It is handed on in the order of arrival.
    turn: Semaphore,
}

#[derive(Default)]
struct State {
    pending: Vec<u8>,
    closed: bool,
    /// What may still be added although others wait.
    granted: usize,
    counters: LaneCounters,
}

impl Lane {
    /// A lane that takes lines while fewer than `capacity` bytes are pending. As many again may be
    /// in the hands of the writer.
    pub fn new(capacity: usize) -> (Self, LaneReader) {
        let lane = Arc::new(Shared {
            capacity: capacity.max(1),
            state: Mutex::default(),
            filled: Notify::new(),
            pressed: Notify::new(),
            emptied: Notify::new(),
            turn: Semaphore::new(1),
        });
        let batch = Vec::new();
        (Self(lane.clone()), LaneReader { lane, batch })
    }

    /// Appends one line if fewer than `capacity` bytes are pending (this line may reach past it)
    /// and nobody waits for room. Returns its bytes on the wire.
    ///
    /// `write` appends the line without its newline, must not use the lane, and is not called
    /// when the line is refused. If it appends nothing, there is no line.
    pub fn try_send(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<usize, TrySendError> {
        let mut state = self.0.entry()?;
        Ok(self.0.append(&mut state, write))
    }

    /// Like [`try_send`](Self::try_send), for several lines of JSON that belong together: all of
    /// them are taken, or none.
    pub(crate) fn try_send_all(
        &self,
        write: impl FnOnce(&mut Group<'_>),
    ) -> Result<usize, TrySendError> {
        let mut state = self.0.entry()?;
        let before = state.pending.len();
        let bytes = state.append_all(write);
        self.0.tell_writer(before, bytes);
        Ok(bytes)
    }

    /// Appends one line even if the lane is full: for the few small ones that must go, such as a
    /// withdrawal. How many there can be is bounded by whoever calls this.
    pub fn send_urgent(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<usize, Closed> {
        let mut state = self.0.state.lock();
        match state.closed {
            true => Err(Closed),
            false => Ok(self.0.append(&mut state, write)),
        }
    }

    /// Waits for room, then appends the line. Dropped before that, it appends nothing.
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
        self.0.in_turn(|state| self.0.append(state, write)).await
    }

    /// Like [`try_send_all`](Self::try_send_all), waiting for room.
    pub(crate) async fn send_all(&self, write: impl FnOnce(&mut Group<'_>)) -> Result<(), Closed> {
        let append = |state: &mut State| {
            let before = state.pending.len();
            let bytes = state.append_all(write);
            self.0.tell_writer(before, bytes);
        };
        match self.0.entry() {
            Ok(mut state) => {
                append(&mut state);
                return Ok(());
            }
            Err(TrySendError::Closed) => return Err(Closed),
            Err(TrySendError::Full) => {}
        }
        self.0.in_turn(append).await
    }

    /// Waits until there is room. A future of this that is kept but not polled holds up those who
    /// came later.
    pub async fn room(&self) -> Result<(), Closed> {
        if self.has_room()? {
            return Ok(());
        }
        self.0.in_turn(|_| ()).await
    }

    /// Whether a line would be taken now.
    pub(crate) fn has_room(&self) -> Result<bool, Closed> {
        match self.0.entry() {
            Ok(_) => Ok(true),
            Err(TrySendError::Full) => Ok(false),
            Err(TrySendError::Closed) => Err(Closed),
        }
    }

    /// Whether no line goes in any more.
    pub fn is_closed(&self) -> bool {
        self.0.state.lock().closed
    }

    /// Takes no further lines. What is pending is still written.
    pub fn close(&self) {
        self.0.state.lock().closed = true;
        self.0.tell_closed();
    }

    /// What went through so far.
    pub fn counters(&self) -> LaneCounters {
        self.0.state.lock().counters
    }
}

impl Shared {
    /// The state, if a line may be added by somebody who did not wait.
    fn entry(&self) -> Result<MutexGuard<'_, State>, TrySendError> {
        let state = self.state.lock();
        let nobody_waits = self.turn.available_permits() > 0;
        match state.closed {
            true => Err(TrySendError::Closed),
            false if !self.has_space(&state) => Err(TrySendError::Full),
            false if nobody_waits || state.granted > 0 => Ok(state),
            false => Err(TrySendError::Full),
        }
    }

    /// A small lane is full before that, and then nothing more would come.
    fn gathered(&self) -> usize {
        self.capacity.min(GATHERED)
    }

    fn has_space(&self, state: &State) -> bool {
        state.pending.len() < self.capacity
    }

    /// Waits behind those who came before, then for space, then acts.
    async fn in_turn<T>(&self, act: impl FnOnce(&mut State) -> T) -> Result<T, Closed> {
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

    fn append(&self, state: &mut State, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let before = state.pending.len();
        let bytes = state.append(write);
        self.tell_writer(before, bytes);
        bytes
    }

    /// The writer looks by itself after each batch; it is told of the first line in an empty lane,
    /// and of the one that makes it worth a write.
    fn tell_writer(&self, before: usize, bytes: usize) {
        if before == 0 && bytes > 0 {
            self.filled.notify_one();
        }
        if before < self.gathered() && before + bytes >= self.gathered() {
            self.pressed.notify_one();
        }
    }

    fn tell_closed(&self) {
        self.turn.close();
        self.emptied.notify_one();
        self.filled.notify_one();
        self.pressed.notify_one();
    }
}

impl State {
    fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let bytes = append_line(&mut self.pending, write);
        self.count(bytes, u64::from(bytes > 0));
        bytes
    }

    fn append_all(&mut self, write: impl FnOnce(&mut Group<'_>)) -> usize {
        let start = self.pending.len();
        let whole = Unfinished {
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
        self.counters.deepest = self.counters.deepest.max(self.pending.len());
    }
}

/// Lines that enter the lane together.
pub(crate) struct Group<'a> {
    pending: &'a mut Vec<u8>,
    lines: u64,
}

impl Group<'_> {
    /// Adds one line, which is JSON as our own writers make it: with no newline inside.
    pub(crate) fn line(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.pending.len();
        let line = Unfinished {
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
    let line = Unfinished { pending, start };
    write(line.pending);
    if line.pending.len() <= start {
        return 0;
    }
    // It would tear the line in two. In JSON it can only be white space, and hardly ever is there.
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

/// A line that is taken back unless it is finished: whoever writes it may panic.
struct Unfinished<'a> {
    pending: &'a mut Vec<u8>,
    start: usize,
}

impl Unfinished<'_> {
    fn finish(mut self) -> usize {
        self.start = self.pending.len();
        self.start
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.pending.truncate(self.start);
    }
}

impl LaneReader {
    /// Writes what enters the lane, many lines at a time, until the lane is closed and empty, or
    /// writing fails. Flushes whenever nothing more is pending, and shuts the writer down at the end.
    pub async fn drain(mut self, mut writer: impl AsyncWrite + Unpin + Send) -> io::Result<()> {
        while self.fill().await {
            writer.write_all(&self.batch).await?;
            if self.is_drained() {
                writer.flush().await?;
            }
            self.recycle();
            self.gather().await;
        }
        // Everything is on its way; a peer that hung up meanwhile is no failure of ours.
        let _hung_up = writer.shutdown().await;
        Ok(())
    }

    /// Takes everything pending, or waits for it. False when there will be nothing more.
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

    /// The first line after a pause leaves at once. What comes right behind it waits a moment for
    /// more: one write of many lines costs little more than a write of one.
    async fn gather(&self) {
        let pressed = self.lane.pressed.notified();
        let pending = self.lane.state.lock().pending.len();
        if (1..self.lane.gathered()).contains(&pending) {
            let _moment_over = timeout(MOMENT, pressed).await;
        }
    }

    /// One huge line must not cost its memory for ever.
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
        self.lane.tell_closed();
    }
}
