//! JSON-RPC on the wire: error objects, and the lines that we write.
//! It knows no method and no parameter.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::requests::OwnRequestId;

/// A line that is not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// JSON that is not a valid message.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// A method that is not handled.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// Parameters that are invalid for the method.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// An error inside this agent.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// The first of the server-defined codes: too many unanswered requests.
pub(crate) const TOO_MANY: i64 = -32000;
/// A request that was withdrawn with `$/cancel_request`.
pub(crate) const REQUEST_CANCELLED: i64 = -32800;

const VERSION: &str = "2.0";

/// The error of a JSON-RPC response.
///
/// ```
/// use toolcall_acp::peer::RpcError;
///
/// let error = RpcError::invalid_params("`cwd` must be absolute");
/// assert_eq!(error.to_string(), "error -32602: Invalid params");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// The code: JSON-RPC's own, or the protocol's.
    pub code: i64,
    /// A short message for the user.
    pub message: String,
    /// Further data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Creates an error without further data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds further data.
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Creates the error for invalid parameters, with the reason.
    pub fn invalid_params(why: impl Into<Value>) -> Self {
        Self::new(INVALID_PARAMS, "Invalid params").data(why)
    }

    /// Creates the error for a request that is not valid now, with the reason.
    pub fn invalid_request(why: impl Into<Value>) -> Self {
        Self::new(INVALID_REQUEST, "Invalid request").data(why)
    }

    /// Creates the error for a method that is not handled.
    pub fn method_not_found(method: &str) -> Self {
        let method = toolcall::text::clean_line(method, 40);
        Self::new(METHOD_NOT_FOUND, format!("method not found: `{method}`"))
    }

    /// Creates the error for a failure inside this agent.
    pub fn internal_error() -> Self {
        Self::new(INTERNAL_ERROR, "Internal error")
    }

    /// Creates the error for a request that was withdrawn.
    pub fn request_cancelled() -> Self {
        Self::new(REQUEST_CANCELLED, "Request cancelled")
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}: {}", self.code, self.message)
    }
}

/// A request or a notification.
#[derive(Serialize)]
struct OutgoingMessage<'a, P: ?Sized> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<OwnRequestId>,
    method: &'a str,
    params: &'a P,
}

#[derive(Serialize)]
struct SuccessResponse<'a, R: ?Sized> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: &'a R,
}

#[derive(Serialize)]
struct ErrorResponse<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    error: &'a RpcError,
}

/// Appends a request.
pub(crate) fn request<P: Serialize + ?Sized>(
    line: &mut Vec<u8>,
    id: OwnRequestId,
    method: &str,
    params: &P,
) -> serde_json::Result<()> {
    let call = OutgoingMessage {
        jsonrpc: VERSION,
        id: Some(id),
        method,
        params,
    };
    append(line, &call)
}

/// Appends a notification.
pub(crate) fn notification<P: Serialize + ?Sized>(
    line: &mut Vec<u8>,
    method: &str,
    params: &P,
) -> serde_json::Result<()> {
    let call = OutgoingMessage {
        jsonrpc: VERSION,
        id: None,
        method,
        params,
    };
    append(line, &call)
}

/// Builds the response to a request. A result that cannot be serialized becomes an internal error.
pub(crate) fn response<R: Serialize + ?Sized>(
    id: &RawValue,
    answer: Result<&R, &RpcError>,
) -> Vec<u8> {
    let result = match answer {
        Ok(result) => result,
        Err(error) => return error_response(Some(id), error),
    };
    let mut line = Vec::new();
    let success = SuccessResponse {
        jsonrpc: VERSION,
        id,
        result,
    };
    match append(&mut line, &success) {
        Ok(()) => line,
        Err(error) => {
            tracing::error!(%error, "a result cannot be serialized");
            error_response(Some(id), &RpcError::internal_error())
        }
    }
}

/// Builds the error response to a request, or to a line whose id is not known.
pub(crate) fn error_response(id: Option<&RawValue>, error: &RpcError) -> Vec<u8> {
    let mut line = Vec::new();
    let failure = ErrorResponse {
        jsonrpc: VERSION,
        id,
        error,
    };
    if let Err(error) = append(&mut line, &failure) {
        tracing::error!(%error, "an error response cannot be serialized");
    }
    line
}

/// Appends the whole message, or nothing if it cannot be serialized.
fn append(line: &mut Vec<u8>, message: &impl Serialize) -> serde_json::Result<()> {
    let start = line.len();
    let written = serde_json::to_writer(&mut *line, message);
    if written.is_err() {
        line.truncate(start);
    }
    written
}
