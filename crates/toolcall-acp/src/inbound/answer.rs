//! Answers on the wire: the peer's, read; ours, written.
//! It must not decide whose they are.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::peer::PeerError;
use crate::requests::Answer;
use crate::wire::{self, ErrorObject};

#[derive(Deserialize)]
struct AnsweredError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl From<AnsweredError> for PeerError {
    fn from(error: AnsweredError) -> Self {
        Self::Answered {
            code: error.code,
            message: error.message,
            data: error.data,
        }
    }
}

/// The peer's result or error, as a value.
pub(super) fn read(answer: Result<&RawValue, &RawValue>) -> Answer {
    let malformed = |_| PeerError::Malformed;
    match answer {
        Ok(result) => serde_json::from_str(result.get()).map_err(malformed),
        Err(error) => Err(serde_json::from_str::<AnsweredError>(error.get())
            .map_or_else(malformed, PeerError::from)),
    }
}

/// Our answer to a request, as a line.
pub(super) fn write(id: &RawValue, answer: &Answer) -> Vec<u8> {
    let refuse = |code, message| refusal(Some(id), code, message);
    match answer {
        Ok(result) => wire::answer(id, result),
        Err(PeerError::Malformed) => refuse(wire::INVALID_PARAMS, "invalid params"),
        Err(PeerError::Gone) => refuse(wire::INTERNAL_ERROR, "internal error"),
        Err(PeerError::Answered {
            code,
            message,
            data,
        }) => {
            let (code, data) = (*code, data.as_ref());
            let error = ErrorObject {
                code,
                message,
                data,
            };
            wire::refusal(Some(id), error)
        }
    }
}

/// An error without further data, as a line.
pub(super) fn refusal(id: Option<&RawValue>, code: i64, message: &str) -> Vec<u8> {
    let data = None;
    let error = ErrorObject {
        code,
        message,
        data,
    };
    wire::refusal(id, error)
}
