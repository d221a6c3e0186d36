//! What agents report about calls, decoded into values of the core, in any protocol version.
//! It must not name a version: [`Decoder`] picks the codec.

use serde_json::{Map, Value};
use toolcall::{Announced, CallId, Content, Event, Kind, Location, Plan};

use crate::finding::{Finding, Findings};
pub use crate::version::{Decoder, ProtocolVersion};

/// The metadata key of a raw output that came before the call ended.
pub const RAW_OUTPUT: &str = "toolcall/raw-output";

/// The first report of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// The call's id.
    pub id: CallId,
    /// The announcement that creates the call.
    pub announced: Announced,
    /// Further events of the same report, to be applied in this order.
    pub then: Vec<Event>,
    /// Text to append to the call's output after those events.
    pub printed: Option<String>,
    /// What is wrong with the report.
    pub findings: Vec<Finding>,
}

/// A report of a known call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The events, to be applied in this order. The call accepts every one.
    pub events: Vec<Event>,
    /// Text to append to the call's output after those events. A report that ends the call has it in
    /// its ending instead.
    pub printed: Option<String>,
    /// What is wrong with the report.
    pub findings: Vec<Finding>,
}

/// A reported plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedPlan {
    /// The plan, without the entries that could not be read.
    pub plan: Plan,
    /// What is wrong with the report.
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

/// A JSON-RPC message of a stream, as far as it concerns calls.
pub(crate) struct Message<'a> {
    /// The session it belongs to; empty if it names none.
    pub(crate) session: &'a str,
    pub(crate) body: Body<'a>,
}

/// The content of a message. Request ids are kept as JSON text.
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
    /// The agent sends another update, with these findings.
    Update(Vec<Finding>),
    /// The client begins a turn.
    Prompt { id: String },
    /// The client loads a session, which is replayed.
    Load,
    /// A response, with the option that the user chose if it answers a question.
    Response { id: String, chosen: Option<&'a str> },
    /// A message that does not concern calls.
    Other,
}

/// One report of a call, with its findings.
pub(crate) struct CallReport<'a> {
    pub(crate) call: CallId,
    /// The name of the update; `None` within a permission request.
    pub(crate) update: Option<UpdateName>,
    pub(crate) report: ReportedFields<'a>,
    pub(crate) findings: Findings,
}

/// The two updates about a call in version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdateName {
    /// It announces the call.
    ToolCall,
    /// It changes the call.
    ToolCallUpdate,
}

/// The fields of one report. A field that it does not mention is `None`.
#[derive(Debug, Default)]
pub(crate) struct ReportedFields<'a> {
    /// One clean line, never blank.
    pub(crate) title: Option<String>,
    /// The tool's name, on one clean line, never blank.
    pub(crate) name: Option<String>,
    /// The category of the call.
    pub(crate) kind: Option<Kind>,
    /// Files to follow.
    pub(crate) locations: Option<Vec<Location>>,
    /// The tool's input.
    pub(crate) input: Option<&'a Value>,
    /// The tool's raw output.
    pub(crate) output: Option<&'a Value>,
    /// The call's status.
    pub(crate) status: Option<ReportedStatus<'a>>,
    /// The content items.
    pub(crate) content: Option<Items>,
    /// Progress, from agents that send it beside the other fields.
    pub(crate) progress: Option<&'a Map<String, Value>>,
    /// The `_meta` object.
    pub(crate) meta: Option<&'a Map<String, Value>>,
}

impl ReportedFields<'_> {
    /// Whether the report ends the call.
    pub(crate) fn is_final(&self) -> bool {
        self.status.is_some_and(ReportedStatus::is_final)
    }
}

/// The status in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedStatus<'a> {
    /// The call does not run yet.
    Pending,
    /// The call runs.
    InProgress,
    /// The call succeeded.
    Completed,
    /// The call failed.
    Failed,
    /// A status that the version does not have.
    Unknown(&'a str),
}

impl ReportedStatus<'_> {
    /// Whether it ends the call.
    fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed => true,
            Self::Pending | Self::InProgress | Self::Unknown(_) => false,
        }
    }
}

/// The content items of a report.
#[derive(Debug, Default)]
pub(crate) struct Items {
    /// The content that the agent shows.
    pub(crate) content: Vec<Content>,
    /// The call's output, from an item that this crate generated.
    pub(crate) output: Option<String>,
    /// The number of items, readable or not.
    pub(crate) count: usize,
}
