//! Everything that can happen to a call, as past-tense values.
//! An event says what happened; what that means for the call is the fold's business.

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
    /// A model asked for it.
    Announced(Arc<Announced>),
    /// The model wrote more of its input.
    InputGrew(InputGrowth),
    /// A streamed input is complete, well formed or not.
    InputArrived(Input),
    /// The tool said what it will do.
    Prepared(Arc<Prepared>),
    /// Somebody was asked.
    Asked(Arc<Question>),
    /// It was decided, or a question was answered.
    Decided(Arc<Decision>),
    /// The tool began to act.
    Started,
    /// Its server asked somebody to fill in a form.
    FormAsked(Arc<FormQuestion>),
    /// The form was answered. What was filled in is not told.
    FormAnswered(Arc<FormAnswered>),
    /// The tool said how far it is.
    Progressed(Progress),
    /// The tool showed something; it replaces what was shown before.
    Showed(Arc<[Content]>),
    /// The tool printed; the bytes are in the call's output.
    Printed(Printed),
    /// Nothing new for a while, but the tool is alive.
    Heartbeat(Heartbeat),
    /// The call was paused.
    Held(Arc<str>),
    /// The call goes on.
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
    /// The tool found places that matter; they replace those that were stated.
    Located(Arc<[Location]>),
    /// A command that it ran ended.
    Exited(Exit),
    /// A foreign agent described it anew.
    Restated(Arc<Restatement>),
    /// A foreign agent reported a status that is not known here.
    StatusUnknown(Arc<str>),
    /// It ended.
    Finished(Arc<Finish>),
}

impl Event {
    /// The event's name, for messages.
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

    /// Which part of a call's life it belongs to.
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

    /// Whether only the latest of its sort matters, so that a store may skip the earlier ones.
    pub fn is_passing(&self) -> bool {
        self.kind() == EventKind::Passing
    }
}

/// The part of a call's life that an event belongs to. Readers of some events match this whole,
/// and then look at the events of that part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The call began.
    Announcement,
    /// Its input is complete, or the tool said what it will do.
    Preparation,
    /// Somebody was asked for permission, or it was decided.
    Permission,
    /// The tool began to act.
    Start,
    /// A server's form was asked or answered.
    Form,
    /// Only the latest of its sort matters: input so far, progress, what is shown or printed.
    Passing,
    /// Something else about the call that lasts, such as a plan, a note or a pause.
    Detail,
    /// The call ended.
    Finish,
}

/// How a call begins.
#[derive(Clone, Debug)]
pub struct Announced {
    /// The tool's name, as the model wrote it.
    pub tool: Arc<str>,
    /// What the model called this call. It need not be unique.
    pub model_id: Option<Arc<str>>,
    /// The call on whose behalf this one runs.
    pub parent: Option<CallId>,
    /// The input, unless the model is still writing it.
    pub input: Option<Input>,
    /// What can be said of it already.
    pub outline: Outline,
}

/// What can be said of a call when it is announced: made when somebody asks, which for most
/// readers is when they report it.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    kind: Kind,
    made: OnceLock<Box<Sketch>>,
}

impl Outline {
    /// To be inferred from the tool's name and input, for a tool of this kind.
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
    /// The likely kind.
    pub fn kind(&self) -> Kind {
        self.outline.kind
    }

    /// What can be said of the call already.
    pub fn sketch(&self) -> &Sketch {
        let input = match &self.input {
            Some(Input::Json(value)) => Some(&**value),
            Some(Input::Text(_)) | None => None,
        };
        let infer = || Box::new(infer::sketch(&self.tool, self.outline.kind, input));
        self.outline.made.get_or_init(infer)
    }
}

/// Whether a sketch was asked for makes no difference.
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

/// More of an input that a model is writing.
#[derive(Clone, Debug, PartialEq)]
pub struct InputGrowth {
    /// Bytes written so far.
    pub bytes: u64,
    /// What can now be said of the call.
    pub sketch: Arc<Sketch>,
}

/// What a tool will do with which input.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The checked input.
    pub input: Arc<Value>,
    /// What it will do.
    pub intent: Intent,
}

/// What a foreign agent now says of a call. It replaces all that was said before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restatement {
    /// The tool's name, if it was told.
    pub tool: Option<Arc<str>>,
    /// Title, kind and locations.
    pub sketch: Sketch,
    /// The input, if it was told.
    pub input: Option<Input>,
    /// What it shows before it runs: the diffs it would make.
    pub preview: Vec<Content>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// A question about a call: may it do what it is about to do?
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// This question.
    pub id: QuestionId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The call it is about.
    pub call: CallId,
    /// What would be done, with which input.
    pub subject: Arc<Prepared>,
    /// The exact rules that "always" may write.
    pub offers: Vec<Rule>,
    /// Which rule made it a question.
    pub because: RuleName,
}

/// The name of a rule that decided something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleName(Cow<'static, str>);

impl RuleName {
    /// Names a rule.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RuleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A rule that a person may choose to keep: its text and its lifetime are all it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Exactly what it covers, readable.
    pub text: Arc<str>,
    /// How long and where it holds.
    pub lifetime: Lifetime,
}

/// How long and where a kept rule holds.
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
    /// Returns how long and where the rule holds, in words.
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
    /// Yes or no.
    pub effect: Effect,
    /// Who decided.
    pub by: Judge,
}

impl Decision {
    /// Whether a person or a rule of theirs said yes. What a foreign agent decided is no such yes.
    pub fn is_approval(&self) -> bool {
        match self.by {
            Judge::Person(_) | Judge::Rule(_) => self.effect == Effect::Allow,
            Judge::Unseen => false,
        }
    }

    /// Whether a person said yes to this very call.
    pub fn is_approval_of_a_person(&self) -> bool {
        matches!(self.by, Judge::Person(_)) && self.is_approval()
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Judge {
    /// A rule.
    Rule(RuleName),
    /// A person.
    Person(Remembered),
    /// A foreign agent, out of our sight.
    Unseen,
}

/// Whether a person's answer was kept as a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Remembered {
    /// It was for this once.
    Once,
    /// It was kept as this rule.
    Kept(Rule),
    /// It should have been kept and could not be.
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

/// A sign of life of a silent tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// How long it has been running.
    pub elapsed: Duration,
    /// How much it printed so far.
    pub bytes: u64,
    /// How long it has said nothing.
    pub quiet: Duration,
}

/// How a call ended, and all it left.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// How it ended.
    pub ending: Ending,
    /// What it produced, also when it failed.
    pub result: ToolResult,
    /// What it printed until then.
    pub output: Arc<Output>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It did what it should.
    Completed,
    /// It could not.
    Failed {
        /// Why.
        reason: Arc<str>,
    },
    /// It was not allowed.
    Denied {
        /// Why.
        reason: Arc<str>,
    },
    /// It was stopped.
    Cancelled {
        /// By whom.
        by: Canceller,
    },
    /// It took too long.
    TimedOut {
        /// The time it had.
        after: Duration,
    },
    /// What carried it went away.
    Interrupted {
        /// What went away.
        reason: Arc<str>,
    },
}

/// Who stopped a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Canceller {
    /// The person.
    Person,
    /// The turn it belonged to ended.
    Turn,
    /// The engine that carried it was dropped.
    Engine,
    /// The call on whose behalf it ran ended.
    Parent,
}

impl Ending {
    /// Failed, for this reason.
    pub fn failed(reason: impl Into<Arc<str>>) -> Self {
        Ending::Failed {
            reason: reason.into(),
        }
    }

    /// Denied, for this reason.
    pub fn denied(reason: impl Into<Arc<str>>) -> Self {
        Ending::Denied {
            reason: reason.into(),
        }
    }

    /// Interrupted, for this reason.
    pub fn interrupted(reason: impl Into<Arc<str>>) -> Self {
        Ending::Interrupted {
            reason: reason.into(),
        }
    }

    /// Whether the tool did what it should.
    pub fn is_success(&self) -> bool {
        matches!(self, Ending::Completed)
    }

    /// One word for logs and tables.
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

    /// The reason for people and models; nothing when it completed.
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

/// What a tool produced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// For people and models.
    pub content: Vec<Content>,
    /// For programs.
    pub structured: Option<Arc<Value>>,
}

impl ToolResult {
    /// Adds content.
    pub fn with(mut self, content: impl Into<Content>) -> Self {
        push_exact(&mut self.content, content.into());
        self
    }

    /// Sets the value for programs.
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
