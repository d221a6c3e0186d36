//! Reads the peer's lines within limits, validates them, and dispatches requests, notifications and responses.
//! It must not let a bad line end the connection, nor a flood of them fill memory.

mod envelope;
mod incoming;
mod line_error;
mod lines;
mod message;
mod response;
mod scan;
#[cfg(test)]
mod tests;
mod validate;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use serde_json::value::RawValue;

use self::incoming::RequestRejection;
pub(crate) use self::incoming::{IncomingRequests, RequestId};
use self::line_error::{LineError, LineKind, excerpt_start};
pub(crate) use self::lines::Source;
use self::lines::{LineRead, Lines};
use self::message::{RawRequestId, RpcMessage};
use crate::dispatch::{Dispatch, Handled, Responder, ResponseLine};
use crate::peer::{Peer, PeerError};
use crate::requests::OwnRequestId;
use crate::transport::ConnectionLimits;
use crate::wire::{self, RpcError};

/// The deepest nesting that the JSON parser accepts.
const DEEPEST: usize = 127;

/// The reader of the peer's messages.
pub(crate) struct Inbound {
    lines: Lines,
    deepest: usize,
    peer: Peer,
}

/// What to do after a line was handled.
enum LineOutcome {
    /// Send this line to the peer.
    ResponseLine(Vec<u8>),
    /// Nothing.
    Done,
}

/// The parameters of `$/cancel_request`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: RequestId,
}

impl Inbound {
    pub(crate) fn new(source: Source, limits: &ConnectionLimits, peer: Peer) -> Self {
        Self {
            lines: Lines::new(source, limits.line),
            deepest: limits.depth.min(DEEPEST),
            peer,
        }
    }

    /// Dispatches every message until the input ends or the peer is hung up. Then ends the requests that
    /// wait for a response.
    pub(crate) async fn run(&mut self, dispatch: &dyn Dispatch) {
        let peer = self.peer.clone();
        tokio::select! {
            () = self.read(dispatch) => {}
            () = peer.hung_up() => {}
        }
        self.peer.input_ended();
    }

    async fn read(&mut self, dispatch: &dyn Dispatch) {
        loop {
            let step = match self.lines.next().await {
                LineRead::End => return,
                LineRead::TooLong(head) => {
                    self.refuse(&message::too_long(&head, self.lines.longest()))
                }
                LineRead::NotText(line) => self.refuse(&message::not_text(&line)),
                LineRead::Line(line) => {
                    let step = self.handle(&line, dispatch);
                    self.lines.recycle(line);
                    step
                }
            };
            // Waiting for room stops the reading, so a flood of bad lines cannot fill memory.
            if let LineOutcome::ResponseLine(line) = step
                && self.peer.lane().send(&line).await.is_err()
            {
                return;
            }
        }
    }

    fn handle(&self, line: &str, dispatch: &dyn Dispatch) -> LineOutcome {
        if line.trim_ascii().is_empty() {
            return LineOutcome::Done;
        }
        match message::read(line, self.deepest) {
            Err(error) => self.refuse(&error),
            Ok(RpcMessage::Response { id, answer }) => self.settle(&id, answer),
            Ok(RpcMessage::Call {
                id: Some(id),
                method,
                params,
            }) => self.request(id, &method, params, dispatch),
            Ok(RpcMessage::Call {
                id: None,
                method,
                params,
            }) => {
                self.notification(&method, params, dispatch);
                LineOutcome::Done
            }
        }
    }

    /// Answers a bad line with an error, unless the line is a response.
    fn refuse(&self, error: &LineError<'_>) -> LineOutcome {
        if error.kind == LineKind::Call {
            return LineOutcome::ResponseLine(error.answer());
        }
        tracing::warn!(reason = error.reason, "a malformed response was skipped");
        let id = error.id.and_then(|id| serde_json::from_str(id.get()).ok());
        if let Some(id) = id.as_ref().and_then(own_request_id) {
            self.peer.requests().settle(id, Err(PeerError::Malformed));
        }
        LineOutcome::Done
    }

    fn settle(&self, id: &RequestId, answer: Result<&RawValue, &RawValue>) -> LineOutcome {
        match own_request_id(id) {
            Some(id) => self.peer.requests().settle(id, response::read(answer)),
            None => tracing::warn!("a response came for a request that was never sent"),
        }
        LineOutcome::Done
    }

    /// Dispatches a request. Unanswered requests are limited, because each may hold memory.
    fn request(
        &self,
        RawRequestId { id, raw }: RawRequestId<'_>,
        method: &str,
        params: Option<&RawValue>,
        dispatch: &dyn Dispatch,
    ) -> LineOutcome {
        let cancelled = match self.peer.incoming().add(id.clone()) {
            Ok(cancelled) => cancelled,
            Err(why) => return LineOutcome::ResponseLine(self.reject(why, raw)),
        };
        let to = Responder::new(raw.to_owned(), id, self.peer.clone(), cancelled);
        // A panic drops the responder, which sends an error; the connection continues.
        let handled = catch_unwind(AssertUnwindSafe(|| dispatch.request(method, params, to)));
        match handled {
            Ok(Handled::Now(ResponseLine(line))) => LineOutcome::ResponseLine(line),
            Ok(Handled::Later) | Err(_) => LineOutcome::Done,
        }
    }

    fn notification(&self, method: &str, params: Option<&RawValue>, dispatch: &dyn Dispatch) {
        if method == "$/cancel_request" {
            let params = params.map_or("null", RawValue::get);
            if let Ok(cancel) = serde_json::from_str::<CancelRequest>(params) {
                self.peer.incoming().cancel(&cancel.request_id);
            }
            return;
        }
        let handled = catch_unwind(AssertUnwindSafe(|| dispatch.notification(method, params)));
        if handled.is_err() {
            tracing::error!(method, "a notification made its handler panic");
        }
    }

    fn reject(&self, why: RequestRejection, id: &RawValue) -> Vec<u8> {
        match why {
            // With its id, this would look like the response to the other request.
            RequestRejection::IdInUse => {
                let id = excerpt_start(id.get());
                let message = format!("invalid request: `id` {id} is in use until it is answered");
                wire::error_response(None, &RpcError::new(wire::INVALID_REQUEST, message))
            }
            RequestRejection::TooMany => {
                let most = self.peer.incoming().most();
                let message = format!("{most} requests are not answered yet; try again later");
                wire::error_response(Some(id), &RpcError::new(wire::TOO_MANY, message))
            }
        }
    }
}

/// Returns our request that a response with this id answers.
fn own_request_id(id: &RequestId) -> Option<OwnRequestId> {
    match id {
        RequestId::Text(id) => OwnRequestId::parse(id),
        RequestId::Number(_) | RequestId::Null => None,
    }
}
