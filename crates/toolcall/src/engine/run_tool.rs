//! Runs a tool until it returns, panics, is cancelled or times out.
//! It does not end a call whose tool blocks its thread: the watchdog does.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::call_task::{CallEnd, CallTask, StepResult};
use super::turn::EngineHandle;
use super::watchdog::Phase;
use crate::event::{Ending, Event, Prepared, ToolResult};
use crate::registry::Entry;
use crate::run_context::RunContext;
use crate::stop::StopCause;
use crate::text::clean_block;
use crate::tool::ToolError;

/// What a tool returned, or its panic.
type CaughtResult = Result<Result<ToolResult, ToolError>, Box<dyn Any + Send>>;

impl CallTask {
    pub(super) async fn run(
        &self,
        entry: &Arc<Entry>,
        prepared: Arc<Prepared>,
    ) -> StepResult<ToolResult> {
        let _running = self.permit().await?;
        let started = self
            .live
            .stop
            .unless_stopped(|| self.write(Event::Started))?;
        started?;
        let limit = entry
            .tool
            .definition()
            .timeout
            .unwrap_or(self.core.limits.run);
        self.core.watch(&self.live, Phase::Running, limit).await;
        let (input, run_context) = (prepared.input.clone(), self.run_context(prepared));
        let running = pin!(catch_panic(async {
            entry.tool.run(input, &run_context).await
        }));
        self.wait(running).await
    }

    /// Waits for a permit to run. A nested call runs within its parent's.
    async fn permit(&self) -> StepResult<Option<SemaphorePermit<'_>>> {
        if self.live.is_nested {
            return Ok(None);
        }
        match self.core.running.try_acquire() {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Ok(Box::pin(self.live.stop.race(self.core.running.acquire()))
                .await?
                .ok()),
        }
    }

    fn run_context(&self, prepared: Arc<Prepared>) -> RunContext {
        let engine = EngineHandle {
            core: self.core.clone(),
            live: self.live.clone(),
        };
        RunContext::new(
            self.id().clone(),
            prepared,
            self.core.journal.clone(),
            self.core.host.clone(),
            self.gate(),
            engine,
        )
    }

    async fn wait(
        &self,
        mut running: Pin<&mut impl Future<Output = CaughtResult>>,
    ) -> StepResult<ToolResult> {
        let produced = match self.live.stop.race(running.as_mut()).await {
            Ok(produced) => produced,
            Err(cause) => return Box::pin(self.wait_for_cleanup(running, cause)).await,
        };
        match self.live.stop.cause() {
            Some(cause) => Err(stopped(cause, produced)),
            None => step_result(produced),
        }
    }

    /// Lets a stopped tool clean up for the grace period, then drops it. What it produced until
    /// then is kept.
    async fn wait_for_cleanup(
        &self,
        running: Pin<&mut impl Future<Output = CaughtResult>>,
        cause: StopCause,
    ) -> StepResult<ToolResult> {
        self.live.stop_children();
        match timeout(self.core.limits.grace, running).await {
            Ok(produced) => Err(stopped(cause, produced)),
            Err(_too_late) => Err(cause.into()),
        }
    }
}

fn step_result(produced: CaughtResult) -> StepResult<ToolResult> {
    match produced {
        Ok(produced) => Ok(produced?),
        Err(panic) => {
            Err(Ending::failed(format!("the tool panicked: {}", panic_message(&*panic))).into())
        }
    }
}

/// Returns how a stopped call ends: as stopped, whatever its tool returned, with the tool's result.
fn stopped(cause: StopCause, produced: CaughtResult) -> Box<CallEnd> {
    let result = match produced {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => error.into_result(),
        Err(_panic) => ToolResult::default(),
    };
    let mut end = Box::<CallEnd>::from(cause);
    end.result = result;
    end
}

/// Runs a future and returns its panic as an error.
async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    clean_block(&text.unwrap_or_else(|| "no message".to_owned()))
}
