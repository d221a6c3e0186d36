//! What comes from the peer: read with limits, checked, and handed to whoever it is for.
//! It must not let a bad line end the connection, nor a flood of them fill memory.

mod answer;
mod envelope;
mod fault;
mod lines;
mod message;
mod scan;
mod sound;
#[cfg(test)]
mod tests;
mod unanswered;

use std::sync::Arc;

use agent_client_protocol::RawJsonRpcId;
use serde_json::value::RawValue;

use self::fault::{Fault, Shape, beginning};
pub(crate) use self::lines::Source;
use self::lines::{Lines, Reading};
use self::message::{Id, Message};
use self::unanswered::NotTaken;
pub(crate) use self::unanswered::Unanswered;
use crate::peer::{Peer, PeerError, Server};
use crate::requests::Asker;
use crate::transport::Limits;
use crate::wire;

/// The JSON reader of the SDK takes no more than this.
const DEEPEST: usize = 127;

/// What comes from the peer.
pub(crate) struct Inbound {
    lines: Lines,
    deepest: usize,
    peer: Peer,
    unanswered: Arc<Unanswered>,
}

/// What is to be done about a line.
enum Step {
    /// The SDK gets it.
    HandOn,
    /// The peer gets this line.
    Reply(Vec<u8>),
    /// It is done with.
    Done,
}

impl Inbound {
    pub(crate) fn new(source: Source, limits: &Limits, peer: Peer) -> Self {
        Self {
            lines: Lines::new(source, limits.line),
            deepest: limits.depth.min(DEEPEST),
            unanswered: peer.unanswered().clone(),
            peer,
        }
    }

    /// The peer's requests that are not answered.
    pub(crate) fn unanswered(&self) -> &Arc<Unanswered> {
        &self.unanswered
    }

    /// The next line that is for the SDK; everything before it was dealt with. After the last one,
    /// whoever waits for the peer is told.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let peer = self.peer.clone();
        let line = tokio::select! {
            line = self.next_for_sdk() => line,
            () = peer.hung_up() => None,
        };
        if line.is_none() {
            self.peer.input_ended();
        }
        line
    }

    async fn next_for_sdk(&mut self) -> Option<String> {
        loop {
            let step = match self.lines.next().await {
                Reading::End => return None,
                Reading::TooLong(head) => {
                    self.refuse(&message::too_long(&head, self.lines.longest()))
                }
                Reading::NotText(line) => self.refuse(&message::not_text(&line)),
                Reading::Line(line) => match self.judge(&line) {
                    Step::HandOn => return Some(line),
                    step @ (Step::Reply(_) | Step::Done) => {
                        self.lines.recycle(line);
                        step
                    }
                },
            };
            // Waiting for room holds up the reading, so a flood of bad lines stops itself.
            if let Step::Reply(line) = step {
                self.peer.lane().send(&line).await.ok()?;
            }
        }
    }

    fn judge(&self, line: &str) -> Step {
        if line.trim_ascii().is_empty() {
            return Step::Done;
        }
        match message::read(line, self.deepest) {
            Err(fault) => self.refuse(&fault),
            Ok(Message::Response { id, answer }) => self.settle(&id, answer),
            Ok(Message::Call { id, method, params }) => match self.peer.server_of(&method) {
                Some(server) => self.serve(&server, id, params),
                None => self.admit(id),
            },
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

    fn settle(&self, id: &RawJsonRpcId, answer: Result<&RawValue, &RawValue>) -> Step {
        match asker(id) {
            Asker::Other => return Step::HandOn,
            Asker::Nobody => tracing::warn!("nobody asked for an answer that has our prefix"),
            Asker::Us(id) => self.peer.requests().settle(id, answer::read(answer)),
        }
        Step::Done
    }

    fn serve(&self, server: &Server, id: Option<Id<'_>>, params: Option<&RawValue>) -> Step {
        if let Some(id) = id.as_ref().filter(|id| self.unanswered.has(&id.id)) {
            return Step::Reply(self.not_taken(NotTaken::InUse, id.raw));
        }
        let answer = match serde_json::from_str(params.map_or("null", RawValue::get)) {
            Ok(params) => server.answer(params),
            Err(_) => Err(PeerError::Malformed),
        };
        match id {
            Some(id) => Step::Reply(answer::write(id.raw, &answer)),
            None => Step::Done,
        }
    }

    /// Requests are counted: the answers of the SDK queue without a bound, too.
    fn admit(&self, id: Option<Id<'_>>) -> Step {
        let Some(Id { id, raw }) = id else {
            return Step::HandOn;
        };
        match self.unanswered.add(id) {
            Ok(()) => Step::HandOn,
            Err(why) => Step::Reply(self.not_taken(why, raw)),
        }
    }

    fn not_taken(&self, why: NotTaken, id: &RawValue) -> Vec<u8> {
        match why {
            // With its id, this would pass for the answer to the other request.
            NotTaken::InUse => {
                let id = beginning(id.get());
                let message = format!("invalid request: `id` {id} is in use until it is answered");
                answer::refusal(None, wire::INVALID_REQUEST, &message)
            }
            NotTaken::TooMany => {
                let most = self.unanswered.most();
                let message = format!("{most} requests are not answered yet; try again later");
                answer::refusal(Some(id), wire::TOO_MANY, &message)
            }
        }
    }

    /// Refuses what was for the SDK, where there is none.
    pub(crate) async fn turn_away(&mut self, line: &str) {
        let Ok(Message::Call { id, method, .. }) = message::read(line, self.deepest) else {
            return;
        };
        let Some(Id { id, raw }) = id else { return };
        let message = format!("method not found: `{}`", beginning(&method));
        let refusal = answer::refusal(Some(raw), wire::METHOD_NOT_FOUND, &message);
        self.unanswered.remove(&id);
        // What a closed lane does not take, nobody reads.
        let _closed = self.peer.lane().send(&refusal).await;
    }
}

fn asker(id: &RawJsonRpcId) -> Asker {
    match id {
        RawJsonRpcId::Str(id) => Asker::of(id),
        RawJsonRpcId::Number(_) | RawJsonRpcId::Null => Asker::Other,
    }
}
