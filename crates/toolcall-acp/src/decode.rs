//! What peers say about calls, read into values of the core, whatever their protocol version.
//! It must not name a version: [`Decoder`] picks the codec.

use serde_json::{Map, Value};
use toolcall::{Announced, CallId, Content, Event, Kind, Location, Plan};

use crate::finding::{Finding, Findings};
pub use crate::version::{Decoder, ProtocolVersion};

/// Where a call's metadata keeps a raw output that came before the ending.
pub const RAW_OUTPUT: &str = "toolcall/raw-output";

/// A call that was reported for the first time.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// The call, as the agent names it.
    pub id: CallId,
    /// How it begins.
    pub announced: Announced,
    /// What the same report says beyond that, to be applied in this order.
    pub then: Vec<Event>,
    /// What it printed, to be added to its output after those events.
    pub printed: Option<String>,
    /// What is wrong with the report.
    pub findings: Vec<Finding>,
}

/// What a report means for a call that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// What happened, to be applied in this order. Every one has its place.
    pub events: Vec<Event>,
    /// What the call printed, to be added to its output after those events. A report that ends
    /// the call has it in its ending instead.
    pub printed: Option<String>,
    /// What is wrong with the report.
    pub findings: Vec<Finding>,
}

/// A plan, and what is wrong with how it was reported.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedPlan {
    /// The plan, as far as it could be read.
    pub plan: Plan,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The agent.
    FromAgent,
    /// The client.
    FromClient,
}

/// A JSON-RPC message of a stream, as far as calls are concerned.
pub(crate) struct Message<'a> {
    /// The session it belongs to; empty if it names none.
    pub(crate) session: &'a str,
    pub(crate) body: Body<'a>,
}

/// What a message says. Ids of requests are JSON texts.
pub(crate) enum Body<'a> {
    /// The agent reports a call.
    Report(Result<CallReport<'a>, Finding>),
    /// The agent asks for permission.
    Question {
        id: String,
        report: Result<CallReport<'a>, Finding>,
        /// The ids of the options that allow.
        allowing: Vec<String>,
    },
    /// The agent withdraws a request.
    Withdrawn { id: String },
    /// The agent tells something else, with these findings.
    Update(Vec<Finding>),
    /// The client begins a turn.
    Prompt { id: String },
    /// The client has a session replayed.
    Load,
    /// A response. The option that was chosen, if it answers a question so.
    Response { id: String, chosen: Option<&'a str> },
    /// A message that does not concern calls.
    Other,
}

/// One report of a call, with what is wrong with it.
pub(crate) struct CallReport<'a> {
    pub(crate) call: CallId,
    /// Under which name it was sent; none within a permission request.
    pub(crate) update: Option<UpdateName>,
    pub(crate) report: Report<'a>,
    pub(crate) findings: Findings,
}

/// The two updates that tell of a call in version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdateName {
    /// It announces the call.
    ToolCall,
    /// It changes the call.
    ToolCallUpdate,
}

/// What one report says of a call. What it does not mention is `None`.
#[derive(Debug, Default)]
pub(crate) struct Report<'a> {
    /// One clean line, never blank.
    pub(crate) title: Option<String>,
    /// The tool's name, on one clean line, never blank.
    pub(crate) name: Option<String>,
    /// The category.
    pub(crate) kind: Option<Kind>,
    /// Files to follow.
    pub(crate) locations: Option<Vec<Location>>,
    /// What the model handed to the tool.
    pub(crate) input: Option<&'a Value>,
    /// What the tool returned.
    pub(crate) output: Option<&'a Value>,
    /// Where the call stands.
    pub(crate) status: Option<ReportedStatus<'a>>,
    /// What is shown.
    pub(crate) content: Option<Items>,
    /// How far it is, where one says so beside the other members.
    pub(crate) progress: Option<&'a Map<String, Value>>,
    /// Everything else.
    pub(crate) meta: Option<&'a Map<String, Value>>,
}

impl Report<'_> {
    /// Whether it says that the call is over.
    pub(crate) fn is_final(&self) -> bool {
        self.status.is_some_and(ReportedStatus::is_final)
    }
}

/// The status that a report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedStatus<'a> {
    /// It does not run yet.
    Pending,
    /// It runs.
    InProgress,
    /// It did what it should.
    Completed,
    /// It could not.
    Failed,
    /// One that the version does not have.
    Unknown(&'a str),
}

impl ReportedStatus<'_> {
    /// Whether it is the last one.
    fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed => true,
            Self::Pending | Self::InProgress | Self::Unknown(_) => false,
        }
    }
}

/// What a list of content items holds.
#[derive(Debug, Default)]
pub(crate) struct Items {
    /// What the agent shows.
    pub(crate) content: Vec<Content>,
    /// What the call printed, where an item of our own making says so.
    pub(crate) output: Option<String>,
    /// How many items there were, good or bad.
    pub(crate) count: usize,
}
