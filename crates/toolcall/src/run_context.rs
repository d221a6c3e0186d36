//! What a running tool may do: print, show, report progress, and use the host within the approved
//! intent.
//! It cannot set a status, ask for permission or touch what was not approved.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use crate::command::Command;
use crate::content::{Content, FileBody, FileEdit};
use crate::engine::EngineHandle;
use crate::event::{Decision, Event, Exit, Prepared};
use crate::fit::fit_content;
use crate::form::{Form, FormAnswer};
use crate::host::{
    AppliedEdit, BoxFuture, Console, FinalSymlink, Host, keep_catching_panics, resolve_edit,
    resolve_path,
};
use crate::ids::CallId;
use crate::intent::{Location, Plan, Touch};
use crate::journal::{Journal, OutputFit};
use crate::outcome::Outcome;
use crate::policy::Verdict;
use crate::prepare_context::{Gate, text_of};
use crate::progress::Progress;
use crate::request::ToolRequest;
use crate::text::clean_line;
use crate::tool::ToolError;

const MOST_NOTES: usize = 32;
const LONGEST_NOTE: usize = 16 * 1024;
const MOST_STEPS: usize = 256;
const LONGEST_STEP: usize = 500;
const MOST_LOCATIONS: usize = 64;

/// Whether the host can store the output that does not fit into the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpillState {
    Possible,
    Failed,
}

/// The context of [`Tool::run`](crate::Tool::run). Cheap to clone. What a tool prints or shows
/// after the call has ended is dropped.
#[derive(Clone)]
pub struct RunContext(Arc<RunState>);

pub(crate) struct RunState {
    pub(crate) id: CallId,
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) gate: Gate,
    pub(crate) engine: EngineHandle,
    notes: AtomicUsize,
    spill: Mutex<SpillState>,
}

impl RunContext {
    pub(crate) fn new(
        id: CallId,
        prepared: Arc<Prepared>,
        journal: Arc<Journal>,
        host: Arc<dyn Host>,
        gate: Gate,
        engine: EngineHandle,
    ) -> Self {
        Self(Arc::new(RunState {
            id,
            prepared,
            journal,
            host,
            gate,
            engine,
            notes: AtomicUsize::new(0),
            spill: Mutex::new(SpillState::Possible),
        }))
    }

    /// Returns the id of the call.
    pub fn id(&self) -> &CallId {
        &self.0.id
    }

    /// Returns the approved intent and the input.
    pub fn prepared(&self) -> &Prepared {
        &self.0.prepared
    }

    /// Returns the absolute form of a path; a relative one starts at the session's directory.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        crate::infer::resolve(&self.0.gate.session_context.cwd, path)
    }

    /// Adds bytes to the call's output. The call holds the head and the tail; the host stores the
    /// whole.
    pub fn print(&self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        if bytes.is_empty() {
            return;
        }
        // One print at a time, so that the host stores bytes in the order in which they are shown.
        let mut spill_state = self.0.spill.lock();
        match self.0.journal.print(&self.0.id, bytes) {
            Err(_ended) => return,
            Ok(OutputFit::Fits) => {}
            Ok(OutputFit::FirstOverflow(before)) => {
                self.keep(&[&before, bytes].concat(), &mut spill_state)
            }
            Ok(OutputFit::Overflow) => self.keep(bytes, &mut spill_state),
        }
        self.0.engine.mark_active();
    }

    /// Once the host has failed to store something, the rest is dropped: it would follow a gap.
    fn keep(&self, bytes: &[u8], spill_state: &mut SpillState) {
        if *spill_state == SpillState::Failed {
            return;
        }
        match keep_catching_panics(&*self.0.host, &self.0.id, bytes) {
            Ok(spill) => self.0.journal.set_spill(&self.0.id, spill),
            Err(_) => *spill_state = SpillState::Failed,
        }
    }

    /// Shows content while the call runs. It replaces what was shown before.
    pub fn show(&self, content: impl Into<Content>) {
        let content = fit_content(content.into(), &self.0.journal.budget());
        self.write(Event::Showed([content].into()));
    }

    /// Reports progress.
    pub fn progress(&self, progress: Progress) {
        self.write(Event::Progressed(progress.cleaned()));
    }

    /// Reports the locations that the tool found, for editors that follow along. They replace the
    /// stated ones; only the first few dozen are reported.
    pub fn locate(&self, mut locations: Vec<Location>) {
        locations.truncate(MOST_LOCATIONS);
        self.write(Event::Located(locations.into()));
    }

    /// Sets the session's plan. Only its first few hundred steps are used.
    pub fn plan(&self, mut plan: Plan) {
        plan.entries.truncate(MOST_STEPS);
        for entry in &mut plan.entries {
            entry.content = clean_line(&entry.content, LONGEST_STEP);
        }
        self.write(Event::Planned(Arc::new(plan)));
    }

    /// Attaches metadata, which is sent to clients, stored and exported to telemetry. Returns an
    /// error for reserved keys, for values over 16 KiB and for more than 32 entries.
    pub fn note(&self, key: &str, value: Value) -> Result<(), ToolError> {
        check_note_key(key)?;
        if value.to_string().len() > LONGEST_NOTE {
            return Err(ToolError::new(format!(
                "the metadata `{key}` is over {LONGEST_NOTE} bytes"
            )));
        }
        if self.0.notes.fetch_add(1, Ordering::Relaxed) >= MOST_NOTES {
            return Err(ToolError::new(format!(
                "a call takes at most {MOST_NOTES} pieces of metadata"
            )));
        }
        self.write(Event::Noted {
            key: key.into(),
            value: Arc::new(value),
        });
        Ok(())
    }

    /// Reads a file that the intent names or that the policy allows without asking. A relative path
    /// starts at the session's directory.
    pub async fn read(&self, path: impl AsRef<Path>) -> Result<FileBody, ToolError> {
        let resolved = self.resolve(path).await?;
        Ok(self.0.host.read(&resolved).await?)
    }

    /// Returns the path with every symlink followed now, if the call may read it.
    pub async fn resolve(&self, path: impl AsRef<Path>) -> Result<PathBuf, ToolError> {
        let path = self.path(path);
        let resolved = resolve_path(&*self.0.host, &path, FinalSymlink::Follow).await?;
        self.check_read(&resolved)?;
        if resolved != path {
            self.refuse_denied(Touch::Reads(path))?;
        }
        Ok(resolved)
    }

    /// Reads a file that must be text. See [`RunContext::read`].
    pub async fn read_text(&self, path: impl AsRef<Path>) -> Result<Arc<str>, ToolError> {
        let path = self.path(path);
        text_of(self.read(&path).await?, &path)
    }

    /// Returns whether [`RunContext::read`] may read this path. Tools that reach files in other
    /// ways than through the host must neither read nor name a path for which this is false.
    pub fn may_read(&self, path: &Path) -> bool {
        self.check_read(path).is_ok()
    }

    /// Returns the edits that the user was shown. Pass each to [`RunContext::apply`] instead of
    /// computing it again.
    pub fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        let preview = self.0.prepared.intent.preview.iter();
        preview.filter_map(Content::as_edit)
    }

    /// Applies an edit that the intent states; where one was shown, exactly that one. Returns an
    /// error if the file has changed since it was shown.
    pub async fn apply(&self, edit: &FileEdit) -> Result<AppliedEdit, ToolError> {
        let edit = resolve_edit(&*self.0.host, edit).await;
        self.require_stated(edit.touch())?;
        self.require_shown(&edit)?;
        Ok(self.0.host.apply(&edit).await?)
    }

    /// Runs a command that the intent states, and adds what it prints to the call's output.
    pub async fn run(&self, command: &Command) -> Result<Exit, ToolError> {
        self.require_stated(Touch::Runs(command.clone()))?;
        let exit = self.0.host.run(command, self).await?;
        self.write(Event::Exited(exit));
        Ok(exit)
    }

    /// Calls another tool on behalf of this call. The nested call is announced, judged and recorded
    /// like any other, and cancelled together with this one.
    pub async fn call(&self, request: ToolRequest) -> Outcome {
        self.0.engine.call(request.parent(self.0.id.clone())).await
    }

    /// Returns the trace context of the turn, for requests that the tool sends to others.
    pub fn trace(&self) -> &[(Arc<str>, Arc<str>)] {
        self.0.engine.trace()
    }

    /// Shows a form of the tool's server to the user and returns the answer. It changes no verdict
    /// and starts nothing. The form is declined where no user can answer, and withdrawn when this
    /// future is dropped or the call is stopped. The call's time limit is paused meanwhile. The
    /// journal records which fields were filled in, not their values. Never ask for a secret in
    /// this way.
    pub async fn elicit(&self, form: Form) -> FormAnswer {
        self.0.engine.elicit(form).await
    }

    /// Shortens the time limit of the call, counted from its start: after that it ends as timed
    /// out.
    pub fn end_within(&self, limit: Duration) {
        self.0.engine.end_within(limit);
    }

    /// Waits until the call is cancelled or its time is up. A tool that awaits this has
    /// [`Limits::grace`](crate::Limits::grace) to clean up; any other is dropped.
    pub async fn cancelled(&self) {
        self.0.engine.stop().stopped().await;
    }

    /// Returns whether the call was cancelled or its time is up.
    pub fn is_cancelled(&self) -> bool {
        self.0.engine.stop().cause().is_some()
    }

    fn write(&self, event: Event) {
        let _lost_after_the_end = self.0.journal.write(&self.0.id, event);
        self.0.engine.mark_active();
    }

    fn stated(&self) -> &[Touch] {
        &self.0.prepared.intent.touches
    }

    /// Allows what the intent states. What only an unknown touch covers is allowed unless a rule
    /// denies it.
    fn require_stated(&self, touch: Touch) -> Result<(), ToolError> {
        self.require_open()?;
        if self.stated().contains(&touch) {
            return Ok(());
        }
        if !self.stated().contains(&Touch::Unknown) {
            return Err(ToolError::denied(
                "the tool tried to do something that it did not state when it prepared the call",
            ));
        }
        self.refuse_denied(touch).map(drop)
    }

    fn refuse_denied(&self, touch: Touch) -> Result<Verdict, ToolError> {
        match self.0.gate.judge(&self.0.prepared.intent.tool, touch) {
            Verdict::Deny { reason, .. } => Err(ToolError::denied(reason)),
            verdict @ (Verdict::Allow { .. } | Verdict::Ask { .. }) => Ok(verdict),
        }
    }

    /// A context that outlives its call can do nothing.
    fn require_open(&self) -> Result<(), ToolError> {
        if self.0.engine.has_ended() {
            return Err(ToolError::new("the call has ended"));
        }
        Ok(())
    }

    fn require_shown(&self, edit: &FileEdit) -> Result<(), ToolError> {
        let mut shown = self
            .edits()
            .filter(|shown| shown.path == edit.path)
            .peekable();
        if shown.peek().is_none() || shown.any(|shown| shown == edit) {
            return Ok(());
        }
        Err(ToolError::denied(
            "the tool tried to make another edit than the one that was shown",
        ))
    }

    /// Allows reading a stated path. A path beneath a stated one, or covered by an unknown touch,
    /// may be read unless a rule denies it; any other only if a rule allows it.
    fn check_read(&self, path: &Path) -> Result<(), ToolError> {
        self.require_open()?;
        if self
            .stated()
            .iter()
            .any(|touch| touch.paths().any(|stated| stated == path))
        {
            return Ok(());
        }
        let is_covered = self.stated().iter().any(|touch| {
            *touch == Touch::Unknown || touch.paths().any(|stated| path.starts_with(stated))
        });
        match self.refuse_denied(Touch::Reads(path.to_owned()))? {
            Verdict::Ask { .. } if !is_covered => Err(ToolError::denied(format!(
                "`{}` was not stated when the call was prepared",
                path.display()
            ))),
            Verdict::Allow { .. } | Verdict::Ask { .. } | Verdict::Deny { .. } => Ok(()),
        }
    }
}

/// What a host may use of the call whose command it runs.
impl Console for RunContext {
    fn print(&self, bytes: &[u8]) {
        RunContext::print(self, bytes);
    }

    fn show(&self, content: Content) {
        RunContext::show(self, content);
    }

    fn decision(&self) -> Option<Arc<Decision>> {
        self.0.journal.call(&self.0.id)?.decision().cloned()
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.cancelled())
    }
}

/// Keys that mean something to the protocol, to editors or to this library.
const RESERVED: [&str; 6] = [
    "traceparent",
    "tracestate",
    "baggage",
    "terminal_info",
    "terminal_output",
    "terminal_exit",
];

fn check_note_key(key: &str) -> Result<(), ToolError> {
    let is_plain = |c: char| c.is_ascii_graphic();
    if key.is_empty() || key.len() > 128 || !key.chars().all(is_plain) {
        return Err(ToolError::new(
            "a metadata key has 1 to 128 visible ASCII characters",
        ));
    }
    if RESERVED.contains(&key) || key.starts_with("toolcall/") {
        return Err(ToolError::new(format!(
            "the metadata key `{key}` is reserved; use another"
        )));
    }
    Ok(())
}
