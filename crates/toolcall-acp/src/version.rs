//! The protocol versions that are spoken, and the choice of one when a connection begins.
//! The only place outside of the codecs that names one.

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

/// A version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// Version 1.
    #[default]
    V1,
}

impl ProtocolVersion {
    /// The number that stands for it on the wire.
    pub fn number(self) -> u64 {
        match self {
            Self::V1 => 1,
        }
    }

    /// The version that a number on the wire stands for, if it is spoken.
    pub fn from_number(number: u64) -> Option<Self> {
        (number == Self::V1.number()).then_some(Self::V1)
    }
}

/// What came of a client's `initialize`.
pub(crate) struct Negotiated {
    /// How the client is spoken with from now on.
    pub(crate) codec: Arc<dyn Codec>,
    /// Who the client is.
    pub(crate) client: Implementation,
    /// The result of the request.
    pub(crate) response: Box<RawValue>,
}

/// Chooses the version by a client's `initialize`: the latest that both speak, and ours if the client
/// asks for one that is not spoken.
pub(crate) fn negotiate(
    params: Option<&RawValue>,
    about: &AgentInfo,
) -> Result<Negotiated, RpcError> {
    v1::initialize(params, about)
}

/// How a client is spoken with that has not said what it offers.
pub(crate) fn before_initialize() -> Arc<dyn Codec> {
    Arc::new(v1::V1::default())
}

/// Reads what peers of one version say about calls: leniently, and from raw JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoder {
    version: ProtocolVersion,
}

impl Decoder {
    /// A decoder for this version.
    pub fn new(version: ProtocolVersion) -> Self {
        Self { version }
    }

    /// Reads whatever first tells of a call: an update, or the call within a permission request.
    pub fn announce(self, update: &Value) -> Result<Announcement, Finding> {
        match self.version {
            ProtocolVersion::V1 => v1::decode::announce(update),
        }
    }

    /// Reads an update of a call that is known.
    ///
    /// A call that has ended never changes again: then there is one finding and nothing else.
    pub fn decode(self, call: &ToolCall, update: &Value) -> Decoded {
        match self.version {
            ProtocolVersion::V1 => v1::decode::decode(call, update),
        }
    }

    /// Reads an update that replaces the session's plan.
    pub fn decode_plan(self, update: &Value) -> Result<DecodedPlan, Finding> {
        match self.version {
            ProtocolVersion::V1 => v1::decode::decode_plan(update),
        }
    }

    /// Reads a whole JSON-RPC message of a stream.
    pub(crate) fn message(self, direction: Direction, message: &Value) -> Message<'_> {
        match self.version {
            ProtocolVersion::V1 => v1::decode::message(direction, message),
        }
    }
}
