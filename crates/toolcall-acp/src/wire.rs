//! JSON-RPC lines of our own making.
//! It knows no method and no meaning of any parameter.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::requests::OwnId;

/// What is not JSON, or no line that could be read.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// JSON that is no message.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// Nobody answers this method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// The method takes other parameters.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// Our own fault.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// The first of the codes that servers define: more is asked for than can be held.
pub(crate) const TOO_MANY: i64 = -32000;

const VERSION: &str = "2.0";

/// A request or a notification.
#[derive(Serialize)]
struct Call<'a, P: ?Sized> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<OwnId>,
    method: &'a str,
    params: &'a P,
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: &'a Value,
}

#[derive(Serialize)]
struct Refusal<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    error: ErrorObject<'a>,
}

/// The error of a response.
#[derive(Serialize)]
pub(crate) struct ErrorObject<'a> {
    pub(crate) code: i64,
    pub(crate) message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<&'a Value>,
}

/// Appends a request.
pub(crate) fn request<P: Serialize + ?Sized>(
    line: &mut Vec<u8>,
    id: OwnId,
    method: &str,
    params: &P,
) -> serde_json::Result<()> {
    let call = Call {
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
    let call = Call {
        jsonrpc: VERSION,
        id: None,
        method,
        params,
    };
    append(line, &call)
}

/// The answer to a request.
pub(crate) fn answer(id: &RawValue, result: &Value) -> Vec<u8> {
    line_of(&Answer {
        jsonrpc: VERSION,
        id,
        result,
    })
}

/// The refusal of a request, or of a line whose id is not known.
pub(crate) fn refusal(id: Option<&RawValue>, error: ErrorObject<'_>) -> Vec<u8> {
    line_of(&Refusal {
        jsonrpc: VERSION,
        id,
        error,
    })
}

fn line_of(message: &impl Serialize) -> Vec<u8> {
    let mut line = Vec::new();
    if let Err(error) = append(&mut line, message) {
        tracing::error!(%error, "an answer could not be written");
    }
    line
}

/// Appends the whole or nothing.
fn append(line: &mut Vec<u8>, message: &impl Serialize) -> serde_json::Result<()> {
    let start = line.len();
    let written = serde_json::to_writer(&mut *line, message);
    if written.is_err() {
        line.truncate(start);
    }
    written
}
