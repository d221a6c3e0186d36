//! Runs one call, step by step, to its one ending.
//! However the task stops, its drop writes the ending.

use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::Poll;

use serde_json::Value;
use tokio::sync::oneshot;

use super::queue::{Freshness, QueueState};
use super::watchdog::{Phase, prepare_timeout};
use super::{Core, LiveCall};
use crate::event::{Ending, Event, Prepared, ToolResult};
use crate::host::BoxFuture;
use crate::ids::CallId;
use crate::intent::{Input, Intent, Kind, Touch};
use crate::irregularity::Irregularity;
use crate::prepare_context::{Gate, PrepareContext};
use crate::registry::Entry;
use crate::request::read_input;
use crate::schedule::{ChangeCount, Position};
use crate::stop::StopCause;
use crate::text::{LONGEST_REASON, clean_line};
use crate::tool::ToolError;

/// The task that runs one call. Dropping it ends the call.
pub(super) struct CallTask {
    pub(super) core: Arc<Core>,
    pub(super) live: Arc<LiveCall>,
}

impl PrepareContext {
    /// Returns how a call ends that could not be prepared.
    fn fail(self, error: ToolError) -> Box<CallEnd> {
        let mut end = Box::<CallEnd>::from(error);
        end.needs_permission = self.into_unapproved();
        end
    }
}

/// The input of a call that begins.
pub(super) enum PendingInput {
    /// The input came with the request and was parsed.
    Ready(Result<Arc<Value>, String>),
    /// The model is still writing the input.
    Streaming(oneshot::Receiver<Input>),
}

/// How a call ends, with its result.
pub(crate) struct CallEnd {
    pub(super) ending: Ending,
    pub(super) result: ToolResult,
    /// Files that the tool read and that the user has not been asked about.
    pub(super) needs_permission: Vec<PathBuf>,
}

type Preparing<'a> = BoxFuture<'a, Result<Intent, ToolError>>;

/// The result of one step, or how the call ends.
pub(super) type StepResult<T> = Result<T, Box<CallEnd>>;

impl CallEnd {
    fn new(ending: Ending, result: ToolResult) -> Self {
        Self {
            ending,
            result,
            needs_permission: Vec::new(),
        }
    }
}

impl From<Ending> for Box<CallEnd> {
    fn from(ending: Ending) -> Self {
        Box::new(CallEnd::new(ending, ToolResult::default()))
    }
}

impl From<StopCause> for Box<CallEnd> {
    fn from(cause: StopCause) -> Self {
        Ending::from(cause).into()
    }
}

impl From<ToolError> for Box<CallEnd> {
    fn from(error: ToolError) -> Self {
        let reason = clean_line(error.reason(), LONGEST_REASON);
        let ending = if error.is_denied() {
            Ending::denied(reason)
        } else {
            Ending::failed(reason)
        };
        Box::new(CallEnd::new(ending, error.into_result()))
    }
}

impl CallTask {
    pub(super) fn id(&self) -> &CallId {
        &self.live.id
    }

    /// Spawns the task.
    pub(super) fn spawn(self, pending: PendingInput) {
        tokio::spawn(async move {
            let end = match self.run_steps(pending).await {
                Ok(result) => CallEnd::new(Ending::Completed, result),
                Err(end) => *end,
            };
            self.core.finish(&self.live, end);
        });
    }

    async fn run_steps(&self, pending: PendingInput) -> StepResult<ToolResult> {
        let input = self.input(pending).await?;
        let (entry, input) = self.validate(input)?;
        let prepared = match self.prepare_in_order(&entry, input.clone()).await {
            Ok(prepared) => prepared,
            Err(end) if end.needs_permission.is_empty() => return Err(end),
            Err(end) => return Err(Box::pin(self.fail_with_permission(&entry, input, end)).await),
        };
        self.decide(&prepared).await?;
        self.run(&entry, prepared).await
    }

    async fn input(&self, pending: PendingInput) -> StepResult<Result<Arc<Value>, String>> {
        match pending {
            PendingInput::Ready(checked) => Ok(checked),
            PendingInput::Streaming(receiver) => {
                let input = match self.live.stop.race(receiver).await {
                    Ok(Ok(input)) => input,
                    Ok(Err(_dropped)) => return Err(self.end_interrupted_input()?),
                    Err(cause) => {
                        self.record_partial_input()?;
                        return Err(cause.into());
                    }
                };
                let (input, checked) = read_input(input, self.core.limits.input_bytes);
                self.write(Event::InputArrived(input))?;
                Ok(checked)
            }
        }
    }

    /// Returns how a call ends whose input broke off: as cancelled if it was stopped, otherwise as
    /// interrupted.
    fn end_interrupted_input(&self) -> StepResult<Box<CallEnd>> {
        self.record_partial_input()?;
        Ok(match self.live.stop.check() {
            Err(cause) => cause.into(),
            Ok(()) => Ending::interrupted("the model's input broke off").into(),
        })
    }

    /// Records an incomplete input as text.
    fn record_partial_input(&self) -> StepResult<()> {
        let written = std::mem::take(&mut *self.live.written.lock());
        if !written.is_empty() {
            self.write(Event::InputArrived(Input::Text(written.into())))?;
        }
        Ok(())
    }

    /// Finds the tool and checks the input, so that only valid calls go on.
    fn validate(&self, input: Result<Arc<Value>, String>) -> StepResult<(Arc<Entry>, Arc<Value>)> {
        if self.live.depth > self.core.limits.depth {
            let most = self.core.limits.depth;
            return Err(Ending::failed(format!("calls are nested more than {most} deep")).into());
        }
        let _set_once = self.live.attempted.set(input.clone().unwrap_or_default());
        let (registry, tool) = (&self.core.registry, &self.live.tool);
        let Some(entry) = registry.find(tool) else {
            return Err(Ending::failed(registry.snapshot().explain_unknown(tool)).into());
        };
        let input = input.map_err(|problem| Box::<CallEnd>::from(Ending::failed(problem)))?;
        entry
            .check(&input)
            .map_err(|problem| Box::<CallEnd>::from(Ending::failed(problem)))?;
        self.refuse_repeated()?;
        Ok((entry, input))
    }

    fn refuse_repeated(&self) -> StepResult<()> {
        let repeats = self.core.repeats.lock();
        // Usually nothing has failed, and then the attempt need not be hashed.
        if repeats.is_empty() {
            return Ok(());
        }
        match self.live.attempt() {
            Some(attempt) if repeats.is_exhausted(attempt) => {
                let reason = "it failed in the same way too often and was not run again";
                Err(Ending::failed(reason).into())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Prepares the call, waits for earlier calls that touch the same, and then prepares it again:
    /// the user is asked about the state after those have ended. A tool that fails to prepare may
    /// only depend on such a call, so it is tried again after it.
    async fn prepare_in_order(
        &self,
        entry: &Arc<Entry>,
        input: Arc<Value>,
    ) -> StepResult<Arc<Prepared>> {
        let position = self.live.enqueue(&self.core.queue);
        loop {
            let since = self.core.queue.change_count();
            let attempt = self.prepare(entry, &input).await;
            let freshness = match &attempt {
                Ok(prepared) => {
                    self.wait_in_queue(position, &prepared.intent.touches, since)
                        .await?
                }
                Err(end) if matches!(end.ending, Ending::Failed { .. }) => {
                    let intent = entry.infer(&input, &self.core.session_context.cwd);
                    Box::pin(self.wait_in_queue(position, &intent.touches, since)).await?
                }
                Err(_) => return attempt,
            };
            if freshness == Freshness::Current {
                return attempt;
            }
        }
    }

    async fn wait_in_queue(
        &self,
        position: Position,
        touches: &[Touch],
        since: ChangeCount,
    ) -> StepResult<Freshness> {
        let queue = &self.core.queue;
        match queue.set_touches(position, touches, since) {
            QueueState::Ready(freshness) => Ok(freshness),
            QueueState::Waiting(notify) => {
                let waiting = queue.wait(position, notify, since);
                Ok(Box::pin(self.live.stop.race(waiting)).await?)
            }
        }
    }

    /// Prepares the call once. Most tools are ready at the first poll; the future that waits for
    /// the others is boxed, to keep the call small.
    async fn prepare(&self, entry: &Arc<Entry>, input: &Arc<Value>) -> StepResult<Arc<Prepared>> {
        self.live.stop.check()?;
        let limit = self.core.limits.prepare;
        self.core.watch(&self.live, Phase::Preparing, limit).await;
        let context = PrepareContext::new(
            input.clone(),
            entry.clone(),
            self.core.host.clone(),
            self.gate(),
        );
        let mut preparing = entry.tool.prepare(&context);
        let at_once = poll_fn(|context| Poll::Ready(preparing.as_mut().poll(context))).await;
        let intent = match at_once {
            Poll::Ready(intent) => {
                drop(preparing);
                intent
            }
            Poll::Pending => Box::pin(self.keep_preparing(preparing)).await?,
        };
        let intent = match intent.map(|intent| context.complete(intent)) {
            Ok(intent) if intent.has_paths() => {
                let resolving = Box::pin(async { Ok(context.resolve_symlinks(intent).await) });
                Box::pin(self.keep_preparing(resolving)).await?
            }
            other => other,
        };
        self.live.unwatch();
        let input = input.clone();
        match intent {
            Ok(intent) => Ok(Arc::new(Prepared { input, intent })),
            Err(error) => Err(context.fail(error)),
        }
    }

    async fn keep_preparing(
        &self,
        preparing: Preparing<'_>,
    ) -> StepResult<Result<Intent, ToolError>> {
        let limit = self.core.limits.prepare;
        let waiting = tokio::time::timeout(limit, preparing);
        let in_time = self.live.stop.race(waiting).await?;
        Ok(in_time.unwrap_or_else(|_| Err(prepare_timeout(limit))))
    }

    /// Asks for permission to report a failure that may reveal files the policy asks about.
    async fn fail_with_permission(
        &self,
        entry: &Entry,
        input: Arc<Value>,
        end: Box<CallEnd>,
    ) -> Box<CallEnd> {
        let mut intent = Intent::new(Kind::Read, "Tell what was found in a file");
        for path in &end.needs_permission {
            intent = intent.reading(path.clone());
        }
        intent.tool = entry.identity.clone();
        let prepared = Arc::new(Prepared { input, intent });
        match self.decide(&prepared).await {
            Ok(()) => end,
            Err(refused) => refused,
        }
    }

    pub(super) fn gate(&self) -> Gate {
        Gate {
            rulebook: self.core.rulebook.clone(),
            session_context: self.core.session_context.clone(),
        }
    }

    /// Writes an event of this call. An event out of place is a bug of the engine: the call fails
    /// rather than going on in an unknown state.
    pub(super) fn write(&self, event: Event) -> StepResult<crate::store::Receipt> {
        self.core.journal.write(self.id(), event).map_err(internal)
    }
}

/// Returns how a call ends after a bug of the engine.
pub(super) fn internal(fault: Irregularity) -> Box<CallEnd> {
    Ending::failed(format!("internal fault: {fault}")).into()
}

/// The task can be dropped at any time: by a panic in a policy or an approver, or because the
/// runtime is shutting down.
impl Drop for CallTask {
    fn drop(&mut self) {
        if self.live.has_ended() {
            return;
        }
        let ending = if std::thread::panicking() {
            Ending::failed("something panicked while the call was judged or prepared")
        } else {
            Ending::interrupted("the program is shutting down")
        };
        self.core.finish(&self.live, *Box::<CallEnd>::from(ending));
    }
}
