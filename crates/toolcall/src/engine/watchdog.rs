//! Checks the live calls at an interval: for timeouts, silent tools and blocked threads.
//! It sets no timer per call: one check of all calls costs less.

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

/// The interval between checks. Time limits are this exact and no more.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// How long after the grace period the task of a stopped call gets to end it.
const EXTRA_GRACE: Duration = Duration::from_millis(250);

/// Whether the watchdog task is running.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    is_running: AtomicBool,
}

/// Whether the watchdog was already running when it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchdogStart {
    AlreadyRunning,
    Started,
}

/// What the watchdog knows of a call's tool. Only the watchdog reads the clock: quick calls need
/// not.
#[derive(Debug)]
pub(crate) struct WatchState {
    phase: Phase,
    limit: Duration,
    /// Whether the tool did something since the last check.
    was_active: bool,
    /// How many of its forms wait for the user: that time does not count.
    open_forms: usize,
    times: Option<WatchTimes>,
}

/// Points in time of a call, as the watchdog saw them.
#[derive(Clone, Copy, Debug)]
struct WatchTimes {
    started: Instant,
    last_activity: Instant,
    last_heartbeat: Instant,
    last_check: Instant,
}

/// Whether a tool is preparing or running.
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

    /// Updates the times at a check.
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
    /// Returns a heartbeat if the tool was silent and none was sent for an interval.
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
    /// Notes that the tool did something.
    pub(crate) fn mark_active(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.was_active = true;
        }
    }

    /// Pauses the tool's time limit while the user has one of its forms open.
    pub(super) fn pause_timer(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.open_forms += 1;
        }
    }

    /// Resumes the time limit.
    pub(super) fn resume_timer(&self) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.open_forms = watched.open_forms.saturating_sub(1);
        }
    }

    /// Shortens the time limit.
    pub(crate) fn end_within(&self, limit: Duration) {
        if let Some(watched) = &mut *self.watched.lock() {
            watched.limit = watched.limit.min(limit);
        }
    }

    /// Stops watching the tool, which has returned.
    pub(super) fn unwatch(&self) {
        *self.watched.lock() = None;
    }
}

impl Core {
    /// Watches a call from now on.
    pub(super) async fn watch(self: &Arc<Self>, live: &LiveCall, phase: Phase, limit: Duration) {
        *live.watched.lock() = Some(WatchState::new(phase, limit));
        if self.start_watchdog() == WatchdogStart::Started {
            // Otherwise a tool that blocks this thread would keep the watchdog from ever starting.
            tokio::task::yield_now().await;
        }
    }

    /// Starts the watchdog task unless it is running. Outside a runtime there is nothing to watch.
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
            // Its tool blocks the thread, so that its task cannot end it.
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

/// What a check of a call finds.
enum CallHealth {
    Good,
    /// It has run longer than its limit.
    TimedOut(Duration),
    /// It blocks its thread while it prepares: its own timer cannot end it.
    Stuck(Duration),
    /// It did nothing for a while.
    Silent(Heartbeat),
}

/// Returns the error of a tool that did not prepare in time.
pub(super) fn prepare_timeout(limit: Duration) -> ToolError {
    ToolError::new(format!("the tool took over {limit:?} to prepare"))
}

/// Returns whether the call's tool is at work, or the call was stopped and has not ended.
fn needs_watching(live: &LiveCall) -> bool {
    live.watched.lock().is_some() || live.stop.cause().is_some()
}

/// A running watchdog. When it is dropped, with its runtime or by a panic, another may start.
struct RunningWatchdog(Weak<Core>);

impl Drop for RunningWatchdog {
    fn drop(&mut self) {
        if let Some(core) = self.0.upgrade() {
            core.watchdog.is_running.store(false, Ordering::Release);
        }
    }
}

/// Checks the calls until none needs watching.
async fn run_watchdog(awake: RunningWatchdog) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let Some(core) = awake.0.upgrade() else {
            return;
        };
        let needing = core.find(needs_watching);
        if needing.is_empty() {
            drop(awake);
            // A call may have begun since the last check.
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
