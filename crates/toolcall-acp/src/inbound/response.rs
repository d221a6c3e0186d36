//! Parses the peer's responses to our requests.
//! It must not match them to requests.

use serde_json::value::RawValue;

use crate::peer::PeerError;
use crate::requests::ResponseResult;
use crate::wire::RpcError;

/// Parses the peer's result or error.
pub(super) fn read(answer: Result<&RawValue, &RawValue>) -> ResponseResult {
    let malformed = |_| PeerError::Malformed;
    match answer {
        Ok(result) => serde_json::from_str(result.get()).map_err(malformed),
        Err(error) => Err(serde_json::from_str::<RpcError>(error.get())
            .map_or_else(malformed, PeerError::Answered)),
    }
}
