//! The peer's answers to our requests, as values.
//! It must not decide whose they are.

use serde_json::value::RawValue;

use crate::peer::PeerError;
use crate::requests::Answer;
use crate::wire::RpcError;

/// The peer's result or error.
pub(super) fn read(answer: Result<&RawValue, &RawValue>) -> Answer {
    let malformed = |_| PeerError::Malformed;
    match answer {
        Ok(result) => serde_json::from_str(result.get()).map_err(malformed),
        Err(error) => Err(serde_json::from_str::<RpcError>(error.get())
            .map_or_else(malformed, PeerError::Answered)),
    }
}
