//! Everything that can happen to a call, as values.
//! An event says what happened; `call` computes what that means for the call.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;

use crate::content::Content;
use crate::form::{FormAnswered, FormQuestion};
use crate::ids::{CallId, QuestionId, SessionId};
use crate::infer;
use crate::intent::{Input, Intent, Kind, Location, Plan, Sketch, push_exact};
use crate::output::Output;
use crate::progress::Progress;

/// Something that happened to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The model requested the call.
    Announced(Arc<Announced>),
    /// The model wrote more of the input.
    InputGrew(InputGrowth),
    /// A streamed input is complete, well formed or not.
    InputArrived(Input),
    /// The tool stated what it will do.
    Prepared(Arc<Prepared>),
    /// The user was asked for permission.
    Asked(Arc<Question>),
    /// The call was allowed or denied, or a question was answered.
    Decided(Arc<Decision>),
    /// The tool began to run.
    Started,
    /// The tool's server sent a form to the user.
    FormAsked(Arc<FormQuestion>),
    /// The form was answered. The event does not contain the values.
    FormAnswered(Arc<FormAnswered>),
    /// The tool reported progress.
    Progressed(Progress),
    /// The tool showed content, which replaces what was shown before.
    Showed(Arc<[Content]>),
    /// The tool printed; the bytes are in the call's output.
    Printed(Printed),
    /// The tool is silent but still running.
    Heartbeat(Heartbeat),
    /// The call was paused.
    Held(Arc<str>),
    /// The call was resumed.
    Resumed,
    /// The tool made or changed the session's plan.
    Planned(Arc<Plan>),
    /// The tool attached metadata.
    Noted {
        /// Its key.
        key: Arc<str>,
        /// Its value.
        value: Arc<Value>,
    },
    /// The tool reported locations, which replace the stated ones.
    Located(Arc<[Location]>),
    /// A command that the tool ran has ended.
    Exited(Exit),
    /// A foreign agent described the call again.
    Restated(Arc<Restatement>),
    /// A foreign agent reported a status that is not known here.
    StatusUnknown(Arc<str>),
    /// The call ended.
    Finished(Arc<Finish>),
}

impl Event {
    /// Returns the event's name, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Announced(_) => "announced",
            Event::InputGrew(_) => "input grew",
            Event::InputArrived(_) => "input arrived",
            Event::Prepared(_) => "prepared",
            Event::Asked(_) => "asked",
            Event::Decided(_) => "decided",
            Event::Started => "started",
            Event::FormAsked(_) => "form asked",
            Event::FormAnswered(_) => "form answered",
            Event::Progressed(_) => "progressed",
            Event::Showed(_) => "showed",
            Event::Printed(_) => "printed",
            Event::Heartbeat(_) => "beat",
            Event::Held(_) => "held",
            Event::Resumed => "resumed",
            Event::Planned(_) => "planned",
            Event::Noted { .. } => "noted",
            Event::Located(_) => "located",
            Event::Exited(_) => "exited",
            Event::Restated(_) => "restated",
            Event::StatusUnknown(_) => "status unknown",
            Event::Finished(_) => "finished",
        }
    }

    /// Returns the phase of a call that the event belongs to.
    pub fn kind(&self) -> EventKind {
        match self {
            Event::Announced(_) => EventKind::Announcement,
            Event::InputArrived(_) | Event::Prepared(_) => EventKind::Preparation,
            Event::Asked(_) | Event::Decided(_) => EventKind::Permission,
            Event::Started => EventKind::Start,
            Event::FormAsked(_) | Event::FormAnswered(_) => EventKind::Form,
            Event::InputGrew(_)
            | Event::Progressed(_)
            | Event::Showed(_)
            | Event::Printed(_)
            | Event::Heartbeat(_) => EventKind::Passing,
            Event::Held(_)
            | Event::Resumed
            | Event::Planned(_)
            | Event::Noted { .. }
            | Event::Located(_)
            | Event::Exited(_)
            | Event::Restated(_)
            | Event::StatusUnknown(_) => EventKind::Detail,
            Event::Finished(_) => EventKind::Finish,
        }
    }

    /// Returns whether only the latest event of its kind matters, so that a store may skip the
    /// earlier ones.
    pub fn is_passing(&self) -> bool {
        self.kind() == EventKind::Passing
    }
}

/// The phase of a call that an event belongs to. Readers that handle only some events match this
/// exhaustively, and then the events of that phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The call began.
    Announcement,
    /// The input is complete, or the tool stated what it will do.
    Preparation,
    /// The user was asked for permission, or the call was decided.
    Permission,
    /// The tool began to run.
    Start,
    /// A server's form was asked or answered.
    Form,
    /// Only the latest event of its kind matters: input so far, progress, what is shown or printed.
    Passing,
    /// Something else about the call that lasts, such as a plan, a note or a pause.
    Detail,
    /// The call ended.
    Finish,
}

/// The announcement of a call.
#[derive(Clone, Debug)]
pub struct Announced {
    /// The tool's name, as the model wrote it.
    pub tool: Arc<str>,
    /// The id that the model gave the call. It need not be unique.
    pub model_id: Option<Arc<str>>,
    /// The call on whose behalf this one runs.
    pub parent: Option<CallId>,
    /// The input, unless the model is still writing it.
    pub input: Option<Input>,
    /// What is known about the call already.
    pub outline: Outline,
}

/// A [`Sketch`] of a call that is computed when it is first needed, which is usually when the call
/// is reported.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    kind: Kind,
    made: OnceLock<Box<Sketch>>,
}

impl Outline {
    /// Creates an outline that is inferred from the tool's name and input, for a tool of this kind.
    pub fn inferred(kind: Kind) -> Self {
        Self {
            kind,
            made: OnceLock::new(),
        }
    }
}

impl From<Sketch> for Outline {
    fn from(sketch: Sketch) -> Self {
        Self {
            kind: sketch.kind,
            made: OnceLock::from(Box::new(sketch)),
        }
    }
}

impl Announced {
    /// Returns the likely kind.
    pub fn kind(&self) -> Kind {
        self.outline.kind
    }

    /// Returns the sketch, and infers it if that has not been done yet.
    pub fn sketch(&self) -> &Sketch {
        let input = match &self.input {
            Some(Input::Json(value)) => Some(&**value),
            Some(Input::Text(_)) | None => None,
        };
        let infer = || Box::new(infer::sketch(&self.tool, self.outline.kind, input));
        self.outline.made.get_or_init(infer)
    }
}

/// Whether the sketch has been computed makes no difference.
impl PartialEq for Announced {
    fn eq(&self, other: &Self) -> bool {
        let Announced {
            tool,
            model_id,
            parent,
            input,
            outline: _,
        } = self;
        *tool == other.tool
            && *model_id == other.model_id
            && *parent == other.parent
            && *input == other.input
            && self.sketch() == other.sketch()
    }
}

/// How much of an input the model has written.
#[derive(Clone, Debug, PartialEq)]
pub struct InputGrowth {
    /// Bytes written so far.
    pub bytes: u64,
    /// What is now known about the call.
    pub sketch: Arc<Sketch>,
}

/// A checked input, and what the tool will do with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The checked input.
    pub input: Arc<Value>,
    /// What it will do.
    pub intent: Intent,
}

/// A foreign agent's new description of a call. It replaces everything it reported before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restatement {
    /// The tool's name, if it was reported.
    pub tool: Option<Arc<str>>,
    /// Title, kind and locations.
    pub sketch: Sketch,
    /// The input, if it was reported.
    pub input: Option<Input>,
    /// What the agent shows before the call runs, such as diffs.
    pub preview: Vec<Content>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// A permission question: may this call do what it states?
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The id of the question.
    pub id: QuestionId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The call it is about.
    pub call: CallId,
    /// The stated intent and the input.
    pub subject: Arc<Prepared>,
    /// The exact rules that an "always" answer may store.
    pub offers: Vec<Rule>,
    /// The rule because of which the user is asked.
    pub because: RuleName,
}

/// The name of a rule that decided something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleName(Cow<'static, str>);

impl RuleName {
    /// Creates a rule name.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RuleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A rule that the user may choose to remember: its text and its lifetime are all there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// What the rule covers, exactly and readably.
    pub text: Arc<str>,
    /// How long and where the rule applies.
    pub lifetime: Lifetime,
}

/// How long and where a remembered rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// Until this session ends.
    Session,
    /// In this project.
    Project,
    /// Everywhere.
    Everywhere,
}

impl Lifetime {
    /// Returns how long and where the rule applies, in words.
    pub fn description(self) -> &'static str {
        match self {
            Lifetime::Session => "in this session",
            Lifetime::Project => "in this project",
            Lifetime::Everywhere => "everywhere",
        }
    }
}

/// A decision about a call, and who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The question it answers, if one was asked.
    pub question: Option<QuestionId>,
    /// Whether something is allowed.
    pub effect: Effect,
    /// Who decided.
    pub by: Judge,
}

impl Decision {
    /// Returns whether the user or a rule of theirs allowed the call. What a foreign agent decided
    /// does not count.
    pub fn is_approval(&self) -> bool {
        match self.by {
            Judge::Person(_) | Judge::Rule(_) => self.effect == Effect::Allow,
            Judge::Unseen => false,
        }
    }

    /// Returns whether the user allowed this very call.
    pub fn is_approval_by_user(&self) -> bool {
        matches!(self.by, Judge::Person(_)) && self.is_approval()
    }
}

/// Whether something is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Allowed.
    Allow,
    /// Denied.
    Deny,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Judge {
    /// A rule.
    Rule(RuleName),
    /// The user.
    Person(Remembered),
    /// A foreign agent, whose decision was not observed.
    Unseen,
}

/// Whether the user's answer was remembered as a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Remembered {
    /// The answer was for this call only.
    Once,
    /// The answer was remembered as this rule.
    Kept(Rule),
    /// The rule could not be stored.
    NotKept {
        /// The rule.
        rule: Rule,
        /// Why not.
        why: Arc<str>,
    },
}

/// A range of the call's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The first byte.
    pub from: u64,
    /// Behind the last byte.
    pub to: u64,
}

/// Reports that a silent tool is still running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// How long the tool has been running.
    pub elapsed: Duration,
    /// How many bytes it has printed so far.
    pub bytes: u64,
    /// How long it has been silent.
    pub quiet: Duration,
}

/// How a call ended, with its result and output.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// How it ended.
    pub ending: Ending,
    /// What the tool produced, also when it failed.
    pub result: ToolResult,
    /// What the tool printed.
    pub output: Arc<Output>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The tool succeeded.
    Completed,
    /// The tool failed, or the call was invalid.
    Failed {
        /// Why.
        reason: Arc<str>,
    },
    /// The call was not allowed.
    Denied {
        /// Why.
        reason: Arc<str>,
    },
    /// The call was cancelled.
    Cancelled {
        /// By whom.
        by: Canceller,
    },
    /// The call took too long.
    TimedOut {
        /// The time limit.
        after: Duration,
    },
    /// The process or connection that ran the call went away.
    Interrupted {
        /// What went away.
        reason: Arc<str>,
    },
}

/// Who cancelled a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Canceller {
    /// The user.
    Person,
    /// The turn it belonged to ended.
    Turn,
    /// The engine that ran it was dropped.
    Engine,
    /// The call on whose behalf it ran ended.
    Parent,
}

impl Ending {
    /// Creates `Failed` with this reason.
    pub fn failed(reason: impl Into<Arc<str>>) -> Self {
        Ending::Failed {
            reason: reason.into(),
        }
    }

    /// Creates `Denied` with this reason.
    pub fn denied(reason: impl Into<Arc<str>>) -> Self {
        Ending::Denied {
            reason: reason.into(),
        }
    }

    /// Creates `Interrupted` with this reason.
    pub fn interrupted(reason: impl Into<Arc<str>>) -> Self {
        Ending::Interrupted {
            reason: reason.into(),
        }
    }

    /// Returns whether the call completed.
    pub fn is_success(&self) -> bool {
        matches!(self, Ending::Completed)
    }

    /// Returns one word for logs and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Ending::Completed => "completed",
            Ending::Failed { .. } => "failed",
            Ending::Denied { .. } => "denied",
            Ending::Cancelled { .. } => "cancelled",
            Ending::TimedOut { .. } => "timed_out",
            Ending::Interrupted { .. } => "interrupted",
        }
    }

    /// Returns the reason for users and models; `None` if the call completed.
    pub fn reason(&self) -> Option<String> {
        Some(match self {
            Ending::Completed => return None,
            Ending::Failed { reason } => reason.to_string(),
            Ending::Denied { reason } => format!("not allowed: {reason}"),
            Ending::Cancelled { by } => by.reason().to_owned(),
            Ending::TimedOut { after } => format!("timed out after {after:?}"),
            Ending::Interrupted { reason } => format!("interrupted: {reason}"),
        })
    }
}

impl Canceller {
    fn reason(&self) -> &'static str {
        match self {
            Canceller::Person => "cancelled by the user",
            Canceller::Turn => "cancelled: the turn ended",
            Canceller::Engine => "cancelled: the agent is shutting down",
            Canceller::Parent => "cancelled: the call it belonged to ended",
        }
    }
}

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// Content for users and models.
    pub content: Vec<Content>,
    /// A JSON value for programs.
    pub structured: Option<Arc<Value>>,
}

impl ToolResult {
    /// Adds a piece of content.
    pub fn with(mut self, content: impl Into<Content>) -> Self {
        push_exact(&mut self.content, content.into());
        self
    }

    /// Sets the JSON value for programs.
    pub fn structured(mut self, value: Value) -> Self {
        self.structured = Some(Arc::new(value));
        self
    }
}

impl<C: Into<Content>> From<C> for ToolResult {
    fn from(content: C) -> Self {
        Self::default().with(content)
    }
}

impl From<Vec<Content>> for ToolResult {
    fn from(content: Vec<Content>) -> Self {
        Self {
            content,
            structured: None,
        }
    }
}

impl From<Value> for ToolResult {
    fn from(value: Value) -> Self {
        let text = match &value {
            Value::String(text) => text.clone(),
            other => format!("{other:#}"),
        };
        Self::from(text).structured(value)
    }
}

impl From<()> for ToolResult {
    fn from((): ()) -> Self {
        Self::default()
    }
}
