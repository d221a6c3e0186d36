//! Looks at the open calls now and then: whose time is up, who is silent, who is stuck.
//! One look for all calls costs less than a timer for each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::call_task::CallEnd;
use super::{Core, LiveCall};
use crate::event::{Event, Heartbeat};
use crate::stop::StopCause;
use crate::tool::ToolError;

/// How often it looks. Limits are met this exactly, and not more.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// How much longer than the grace it waits for what carries a stopped call.
const EXTRA_GRACE: Duration = Duration::from_millis(250);

/// Whether somebody is looking.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    is_running: AtomicBool,
}

/// When the watchdog was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchdogStart {
    AlreadyRunning,
    Started,
}

/// What a tool is doing for a call, as the watchdog sees it. Only the watchdog reads the clock:
/// calls and tools that are quick need not.
#[derive(Debug)]
pub(crate) struct WatchState {
    phase: Phase,
    limit: Duration,
    /// Whether the tool gave a sign of life since the last look.
    was_active: bool,
    /// How many forms of it a person has before them: that takes as long as it takes.
    open_forms: usize,
    times: Option<WatchTimes>,
}

/// When the watchdog saw what.
#[derive(Clone, Copy, Debug)]
struct WatchTimes {
    started: Instant,
    last_activity: Instant,
    last_heartbeat: Instant,
    last_check: Instant,
}

/// Which of its two steps a tool is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Preparing,
    Running,
}

impl WatchState {
    fn new(phase: Phase, limit: Duration) -> Self {
        Self {
            phase,
            limit,
            was_active: false,
            open_forms: 0,
            times: None,
        }
    }

    /// FieldType a look.
    fn check(&mut self, now: Instant) -> &mut WatchTimes {
        let times = self.times.get_or_insert(WatchTimes {
            started: now,
            last_activity: now,
            last_heartbeat: now,
            last_check: now,
        });
        let waits = self.open_forms > 0;
        if waits {
            times.started += now - times.last_check;
        }
        times.last_check = now;
        if std::mem::take(&mut self.was_active) || waits {
            times.last_activity = now;
        }
        times
    }
}

impl WatchTimes {
    /// A sign of life, if the tool gave none and none was given for it of late.
    fn heartbeat(&mut self, now: Instant, interval: Duration, bytes: u64) -> Option<Heartbeat> {
        let quiet = now - self.last_activity;
        if quiet.min(now - self.last_heartbeat) < interval {
            return None;
        }
        self.last_heartbeat = now;
        Some(Heartbeat {
            elapsed: now - self.started,
            bytes,
            quiet,
        })
    }
}

impl LiveCall {
    /// The tool gave a sign of life.
    pub(crate) fn mark_active(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.was_active = true;
        }
    }

    /// The tool's time stands still while a person has a form of it before them.
    pub(super) fn pause_timer(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.open_forms += 1;
        }
    }

    /// It goes on.
    pub(super) fn resume_timer(&self) {
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
    pub(super) async fn watch(self: &Arc<Self>, live: &LiveCall, phase: Phase, limit: Duration) {
        *live.watched.lock() = Some(WatchState::new(phase, limit));
        if self.start_watchdog() == WatchdogStart::Started {
            // Else a tool that blocks this thread would keep the watchdog from ever beginning.
            tokio::task::yield_now().await;
        }
    }

    /// Outside a runtime nothing runs that could be watched.
    pub(super) fn start_watchdog(self: &Arc<Self>) -> WatchdogStart {
        let Ok(runtime) = Handle::try_current() else {
            return WatchdogStart::AlreadyRunning;
        };
        if self.watchdog.is_running.swap(true, Ordering::AcqRel) {
            return WatchdogStart::AlreadyRunning;
        }
        runtime.spawn(run_watchdog(RunningWatchdog(Arc::downgrade(self))));
        WatchdogStart::Started
    }

    fn check_call(&self, live: &LiveCall) {
        if let Some(cause) = live
            .stop
            .cause_older_than(self.limits.grace.saturating_add(EXTRA_GRACE))
        {
            // Its tool blocks the thread, so that what carries it cannot end it.
            self.finish(live, *Box::<CallEnd>::from(cause));
        }
        match self.check_health(live) {
            CallHealth::Good => {}
            CallHealth::TimedOut(limit) => {
                live.stop(StopCause::TimedOut(limit));
            }
            CallHealth::Stuck(limit) => {
                self.finish(live, *Box::<CallEnd>::from(prepare_timeout(limit)))
            }
            CallHealth::Silent(heartbeat) => {
                let _ended_meanwhile = self.journal.write(&live.id, Event::Heartbeat(heartbeat));
            }
        }
    }

    fn check_health(&self, live: &LiveCall) -> CallHealth {
        let bytes = self.journal.printed(&live.id);
        let mut watched = live.watched.lock();
        let Some(watched) = &mut *watched else {
            return CallHealth::Good;
        };
        let (now, phase, limit) = (Instant::now(), watched.phase, watched.limit);
        let times = watched.check(now);
        let elapsed = now - times.started;
        match phase {
            Phase::Preparing if elapsed >= limit.saturating_add(EXTRA_GRACE) => {
                CallHealth::Stuck(limit)
            }
            Phase::Preparing => CallHealth::Good,
            Phase::Running if elapsed >= limit => CallHealth::TimedOut(limit),
            Phase::Running => {
                let heartbeat = times.heartbeat(now, self.limits.heartbeat, bytes);
                heartbeat.map_or(CallHealth::Good, CallHealth::Silent)
            }
        }
    }
}

/// What the watchdog finds.
enum CallHealth {
    Good,
    /// It runs longer than it may.
    TimedOut(Duration),
    /// It blocks its thread while it prepares: a timer of its own could not end it.
    Stuck(Duration),
    /// It said nothing for a while.
    Silent(Heartbeat),
}

/// The tool did not get ready in time.
pub(super) fn prepare_timeout(limit: Duration) -> ToolError {
    ToolError::new(format!("the tool took over {limit:?} to prepare"))
}

/// Calls whose tool is at work, and calls that were stopped and have not ended.
fn needs_watching(live: &LiveCall) -> bool {
    live.watched.lock().is_some() || live.stop.cause().is_some()
}

/// A watchdog that is awake. When it goes away, with its runtime or by a panic, another may come.
struct RunningWatchdog(Weak<Core>);

impl Drop for RunningWatchdog {
    fn drop(&mut self) {
        if let Some(core) = self.0.upgrade() {
            core.watchdog.is_running.store(false, Ordering::Release);
        }
    }
}

/// Looks until there is nothing to look after.
async fn run_watchdog(awake: RunningWatchdog) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let Some(core) = awake.0.upgrade() else {
            return;
        };
        let needing = core.find(needs_watching);
        if needing.is_empty() {
            drop(awake);
            // A call may have come while the watchdog thought there was none.
            if !core.find(needs_watching).is_empty() {
                core.start_watchdog();
            }
            return;
        }
        for live in needing {
            core.check_call(&live);
        }
    }
}
