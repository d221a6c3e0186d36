//! The supported protocol versions, and the negotiation of one when a connection begins.
//! No other module outside the codecs names a version.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use toolcall::ToolCall;

use crate::codec::Codec;
use crate::decode::{Announcement, Decoded, DecodedPlan, Direction, Message};
use crate::finding::Finding;
use crate::peer::RpcError;
use crate::service::{AgentInfo, Implementation};
use crate::v1;

/// A supported version of the protocol.
///
/// ```
/// use toolcall_acp::ProtocolVersion;
///
/// assert_eq!(ProtocolVersion::from_number(1), Some(ProtocolVersion::V1));
/// assert_eq!(ProtocolVersion::from_number(7), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// Version 1.
    #[default]
    V1,
}

impl ProtocolVersion {
    /// Returns its number on the wire.
    pub fn number(self) -> u64 {
        match self {
            Self::V1 => 1,
        }
    }

    /// Returns the version with this number on the wire, if it is supported.
    pub fn from_number(number: u64) -> Option<Self> {
        (number == Self::V1.number()).then_some(Self::V1)
    }
}

/// The outcome of a client's `initialize`.
pub(crate) struct NegotiatedVersion {
    /// The codec for this client.
    pub(crate) codec: Arc<dyn Codec>,
    /// The client's name and version.
    pub(crate) client: Implementation,
    /// The result of the request.
    pub(crate) response: Box<RawValue>,
}

/// Chooses the version by a client's `initialize`: the latest that both support, and ours if the client
/// asks for one that is not supported.
pub(crate) fn negotiate(
    params: Option<&RawValue>,
    info: &AgentInfo,
) -> Result<NegotiatedVersion, RpcError> {
    v1::initialize(params, info)
}

/// Returns the codec for a client that has not sent `initialize`: it offers nothing.
pub(crate) fn before_initialize() -> Arc<dyn Codec> {
    Arc::new(v1::V1::default())
}

/// Decodes what agents report about calls in one protocol version: leniently, and from raw JSON.
///
/// ```
/// use serde_json::json;
/// use toolcall_acp::decode::Decoder;
///
/// let update = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read a.rs"});
/// let first = Decoder::default().announce(&update).expect("a call");
/// assert_eq!(first.id.as_str(), "c1");
/// assert_eq!(first.findings, []);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoder {
    version: ProtocolVersion,
}

impl Decoder {
    /// Creates a decoder for this version.
    pub fn new(version: ProtocolVersion) -> Self {
        Self { version }
    }

    /// Decodes the first report of a call: an update, or the call within a permission request.
    pub fn announce(self, update: &Value) -> Result<Announcement, Finding> {
        match self.version {
            ProtocolVersion::V1 => v1::decode::announce(update),
        }
    }

    /// Decodes an update of a known call.
    ///
    /// A call that has ended never changes again: the result is one finding and no event.
    pub fn decode(self, call: &ToolCall, update: &Value) -> Decoded {
        match self.version {
            ProtocolVersion::V1 => v1::decode::decode(call, update),
        }
    }

    /// Decodes an update that replaces the session's plan.
    pub fn decode_plan(self, update: &Value) -> Result<DecodedPlan, Finding> {
        match self.version {
            ProtocolVersion::V1 => v1::decode::decode_plan(update),
        }
    }

    /// Decodes a whole JSON-RPC message of a stream.
    pub(crate) fn message(self, direction: Direction, message: &Value) -> Message<'_> {
        match self.version {
            ProtocolVersion::V1 => v1::decode::message(direction, message),
        }
    }
}
