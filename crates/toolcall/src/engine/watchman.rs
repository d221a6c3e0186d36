//! Looks at the open calls now and then: whose time is up, who is silent, who is stuck.
//! One look for all calls costs less than a timer for each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::carry::End;
use super::{Core, Live};
use crate::event::{Event, Heartbeat};
use crate::stop::Cause;
use crate::tool::ToolError;

/// How often it looks. Limits are met this exactly, and not more.
const LOOK: Duration = Duration::from_millis(50);

/// How much longer than the grace it waits for what carries a stopped call.
const PATIENCE: Duration = Duration::from_millis(250);

/// Whether somebody is looking.
#[derive(Debug, Default)]
pub(super) struct Watchman {
    is_awake: AtomicBool,
}

/// When the watchman was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    Before,
    Now,
}

/// What a tool is doing for a call, as the watchman sees it. Only the watchman reads the clock:
/// calls and tools that are quick need not.
#[derive(Debug)]
pub(crate) struct Watched {
    phase: Phase,
    limit: Duration,
    /// Whether the tool gave a sign of life since the last look.
    has_signed: bool,
    /// How many forms of it a person has before them: that takes as long as it takes.
    open_forms: usize,
    seen: Option<Seen>,
}

/// When the watchman saw what.
#[derive(Clone, Copy, Debug)]
struct Seen {
    first: Instant,
    sign: Instant,
    beat: Instant,
    latest: Instant,
}

/// Which of its two steps a tool is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Preparing,
    Running,
}

impl Watched {
    fn new(phase: Phase, limit: Duration) -> Self {
        Self {
            phase,
            limit,
            has_signed: false,
            open_forms: 0,
            seen: None,
        }
    }

    /// FieldType a look.
    fn look(&mut self, now: Instant) -> &mut Seen {
        let seen = self.seen.get_or_insert(Seen {
            first: now,
            sign: now,
            beat: now,
            latest: now,
        });
        let waits = self.open_forms > 0;
        if waits {
            seen.first += now - seen.latest;
        }
        seen.latest = now;
        if std::mem::take(&mut self.has_signed) || waits {
            seen.sign = now;
        }
        seen
    }
}

impl Seen {
    /// A sign of life, if the tool gave none and none was given for it of late.
    fn beat(&mut self, now: Instant, interval: Duration, bytes: u64) -> Option<Heartbeat> {
        let quiet = now - self.sign;
        if quiet.min(now - self.beat) < interval {
            return None;
        }
        self.beat = now;
        Some(Heartbeat {
            elapsed: now - self.first,
            bytes,
            quiet,
        })
    }
}

impl Live {
    /// The tool gave a sign of life.
    pub(crate) fn sign(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.has_signed = true;
        }
    }

    /// The tool's time stands still while a person has a form of it before them.
    pub(super) fn stop_the_clock(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.open_forms += 1;
        }
    }

    /// It goes on.
    pub(super) fn restart_the_clock(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.open_forms = watched.open_forms.saturating_sub(1);
        }
    }

    /// The step gets less time than it had.
    pub(crate) fn end_within(&self, limit: Duration) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.limit = watched.limit.min(limit);
        }
    }

    /// The tool is done with its step.
    pub(super) fn unwatch(&self) {
        *self.watched.lock() = None;
    }
}

impl Core {
    /// Has a call watched from now on.
    pub(super) async fn watch(self: &Arc<Self>, live: &Live, phase: Phase, limit: Duration) {
        *live.watched.lock() = Some(Watched::new(phase, limit));
        if self.wake_watchman() == Woken::Now {
            // Else a tool that blocks this thread would keep the watchman from ever beginning.
            tokio::task::yield_now().await;
        }
    }

    /// Outside a runtime nothing runs that could be watched.
    pub(super) fn wake_watchman(self: &Arc<Self>) -> Woken {
        let Ok(runtime) = Handle::try_current() else {
            return Woken::Before;
        };
        if self.watchman.is_awake.swap(true, Ordering::AcqRel) {
            return Woken::Before;
        }
        runtime.spawn(keep_watch(Awake(Arc::downgrade(self))));
        Woken::Now
    }

    fn look_after(&self, live: &Live) {
        if let Some(cause) = live
            .stop
            .overdue(self.limits.grace.saturating_add(PATIENCE))
        {
            // Its tool blocks the thread, so that what carries it cannot end it.
            self.finish(live, *Box::<End>::from(cause));
        }
        match self.find_fault(live) {
            Fault::None => {}
            Fault::Slow(limit) => {
                live.stop(Cause::TimedOut(limit));
            }
            Fault::Stuck(limit) => self.finish(live, *Box::<End>::from(slow_to_prepare(limit))),
            Fault::Silent(beat) => {
                let _ended_meanwhile = self.journal.write(&live.id, Event::Heartbeat(beat));
            }
        }
    }

    fn find_fault(&self, live: &Live) -> Fault {
        let bytes = self.journal.printed(&live.id);
        let mut watched = live.watched.lock();
        let Some(watched) = &mut *watched else {
            return Fault::None;
        };
        let (now, phase, limit) = (Instant::now(), watched.phase, watched.limit);
        let seen = watched.look(now);
        let elapsed = now - seen.first;
        match phase {
            Phase::Preparing if elapsed >= limit.saturating_add(PATIENCE) => Fault::Stuck(limit),
            Phase::Preparing => Fault::None,
            Phase::Running if elapsed >= limit => Fault::Slow(limit),
            Phase::Running => {
                let beat = seen.beat(now, self.limits.heartbeat, bytes);
                beat.map_or(Fault::None, Fault::Silent)
            }
        }
    }
}

/// What the watchman finds.
enum Fault {
    None,
    /// It runs longer than it may.
    Slow(Duration),
    /// It blocks its thread while it prepares: a timer of its own could not end it.
    Stuck(Duration),
    /// It said nothing for a while.
    Silent(Heartbeat),
}

/// The tool did not get ready in time.
pub(super) fn slow_to_prepare(limit: Duration) -> ToolError {
    ToolError::new(format!("the tool took over {limit:?} to prepare"))
}

/// Calls whose tool is at work, and calls that were stopped and have not ended.
fn needs_watch(live: &Live) -> bool {
    live.watched.lock().is_some() || live.stop.cause().is_some()
}

/// A watchman that is awake. When it goes away, with its runtime or by a panic, another may come.
struct Awake(Weak<Core>);

impl Drop for Awake {
    fn drop(&mut self) {
        if let Some(core) = self.0.upgrade() {
            core.watchman.is_awake.store(false, Ordering::Release);
        }
    }
}

/// Looks until there is nothing to look after.
async fn keep_watch(awake: Awake) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(core) = awake.0.upgrade() else {
            return;
        };
        let needing = core.find(needs_watch);
        if needing.is_empty() {
            drop(awake);
            // A call may have come while the watchman thought there was none.
            if !core.find(needs_watch).is_empty() {
                core.wake_watchman();
            }
            return;
        }
        for live in needing {
            core.look_after(&live);
        }
    }
}
