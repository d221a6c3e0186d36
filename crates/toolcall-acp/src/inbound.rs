//! What comes from the peer: read with limits, checked, and handed to whoever it is for.
//! It must not let a bad line end the connection, nor a flood of them fill memory.

mod answer;
mod envelope;
mod fault;
mod incoming;
mod lines;
mod message;
mod scan;
mod sound;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use serde_json::value::RawValue;

use self::fault::{Fault, Shape, beginning};
use self::incoming::NotTaken;
pub(crate) use self::incoming::{Incoming, RequestId};
pub(crate) use self::lines::Source;
use self::lines::{Lines, Reading};
use self::message::{Id, Message};
use crate::dispatch::{Dispatch, Handled, Reply, Responder};
use crate::peer::{Peer, PeerError};
use crate::requests::Asker;
use crate::transport::Limits;
use crate::wire::{self, RpcError};

/// The JSON reader takes no more than this.
const DEEPEST: usize = 127;

/// What comes from the peer.
pub(crate) struct Inbound {
    lines: Lines,
    deepest: usize,
    peer: Peer,
}

/// What is to be done about a line.
enum Step {
    /// The peer gets this line.
    Reply(Vec<u8>),
    /// It is done with.
    Done,
}

/// The parameters of `$/cancel_request`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: RequestId,
}

impl Inbound {
    pub(crate) fn new(source: Source, limits: &Limits, peer: Peer) -> Self {
        Self {
            lines: Lines::new(source, limits.line),
            deepest: limits.depth.min(DEEPEST),
            peer,
        }
    }

    /// Hands on every message until the input ends or nothing more is to be heard. Then whoever
    /// waits for the peer is told.
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
                Reading::End => return,
                Reading::TooLong(head) => {
                    self.refuse(&message::too_long(&head, self.lines.longest()))
                }
                Reading::NotText(line) => self.refuse(&message::not_text(&line)),
                Reading::Line(line) => {
                    let step = self.handle(&line, dispatch);
                    self.lines.recycle(line);
                    step
                }
            };
            // Waiting for room holds up the reading, so a flood of bad lines stops itself.
            if let Step::Reply(line) = step
                && self.peer.lane().send(&line).await.is_err()
            {
                return;
            }
        }
    }

    fn handle(&self, line: &str, dispatch: &dyn Dispatch) -> Step {
        if line.trim_ascii().is_empty() {
            return Step::Done;
        }
        match message::read(line, self.deepest) {
            Err(fault) => self.refuse(&fault),
            Ok(Message::Response { id, answer }) => self.settle(&id, answer),
            Ok(Message::Call {
                id: Some(id),
                method,
                params,
            }) => self.request(id, &method, params, dispatch),
            Ok(Message::Call {
                id: None,
                method,
                params,
            }) => {
                self.notification(&method, params, dispatch);
                Step::Done
            }
        }
    }

    /// Answers a bad line, unless it is an answer itself.
    fn refuse(&self, fault: &Fault<'_>) -> Step {
        if fault.shape == Shape::Call {
            return Step::Reply(fault.answer());
        }
        tracing::warn!(reason = fault.reason, "a bad answer was skipped");
        let id = fault.id.and_then(|id| serde_json::from_str(id.get()).ok());
        if let Some(Asker::Us(id)) = id.as_ref().map(asker) {
            self.peer.requests().settle(id, Err(PeerError::Malformed));
        }
        Step::Done
    }

    fn settle(&self, id: &RequestId, answer: Result<&RawValue, &RawValue>) -> Step {
        match asker(id) {
            Asker::Us(id) => self.peer.requests().settle(id, answer::read(answer)),
            Asker::Nobody => tracing::warn!("an answer came that nobody asked for"),
        }
        Step::Done
    }

    /// Requests are counted: each may cost memory until it is answered.
    fn request(
        &self,
        Id { id, raw }: Id<'_>,
        method: &str,
        params: Option<&RawValue>,
        dispatch: &dyn Dispatch,
    ) -> Step {
        let cancelled = match self.peer.incoming().add(id.clone()) {
            Ok(cancelled) => cancelled,
            Err(why) => return Step::Reply(self.not_taken(why, raw)),
        };
        let to = Responder::new(raw.to_owned(), id, self.peer.clone(), cancelled);
        // A panic drops the responder, which answers; the connection goes on.
        let handled = catch_unwind(AssertUnwindSafe(|| dispatch.request(method, params, to)));
        match handled {
            Ok(Handled::Now(Reply(line))) => Step::Reply(line),
            Ok(Handled::Later) | Err(_) => Step::Done,
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

    fn not_taken(&self, why: NotTaken, id: &RawValue) -> Vec<u8> {
        match why {
            // With its id, this would pass for the answer to the other request.
            NotTaken::InUse => {
                let id = beginning(id.get());
                let message = format!("invalid request: `id` {id} is in use until it is answered");
                wire::refusal(None, &RpcError::new(wire::INVALID_REQUEST, message))
            }
            NotTaken::TooMany => {
                let most = self.peer.incoming().most();
                let message = format!("{most} requests are not answered yet; try again later");
                wire::refusal(Some(id), &RpcError::new(wire::TOO_MANY, message))
            }
        }
    }
}

fn asker(id: &RequestId) -> Asker {
    match id {
        RequestId::Text(id) => Asker::of(id),
        RequestId::Number(_) | RequestId::Null => Asker::Nobody,
    }
}
