//! A conversation that is held with a model, and everything it says, a line for each delta.
//! It runs no call: what came of one is handed in.

use std::fmt::Write as _;
use std::sync::Arc;

use futures::StreamExt as _;
use tokio::time::Instant;
use toolcall::{Content, ModelResult, Registry};
use toolcall_agent::model::{Conversation, Delta, MadeCall, Message, Model, ModelError, Reply};

/// What comes of a call: its text, or why it failed.
pub(crate) type Outcome = Result<&'static str, &'static str>;

/// A model, what was said to it, and what it said.
pub(crate) struct Stage<M> {
    model: M,
    said: Conversation,
    lines: String,
}

impl<M: Model> Stage<M> {
    pub(crate) fn new(model: M, tools: Registry) -> Self {
        let said = Conversation {
            messages: Vec::new(),
            tools: Arc::new(tools),
        };
        Self {
            model,
            said,
            lines: String::new(),
        }
    }

    /// Says something, and lets the model answer until it asks for no more calls. Calls end as
    /// they are told to here, in their order; those beyond succeed.
    pub(crate) async fn say(&mut self, prompt: Vec<Content>, outcomes: &[Outcome]) {
        let mut outcomes = outcomes.iter().copied();
        self.said.messages.push(Message::Person(prompt));
        loop {
            let reply = self.answer().await;
            let calls = reply.calls.clone();
            self.said.messages.push(Message::Model(reply));
            if calls.is_empty() {
                break;
            }
            let results = calls
                .iter()
                .map(|call| result(call, outcomes.next().unwrap_or(Ok("done"))));
            let results = results.collect();
            self.said.messages.push(Message::Results(results));
        }
    }

    /// Everything that was said, with the milliseconds since each answer began.
    pub(crate) fn lines(&self) -> &str {
        &self.lines
    }

    /// Every call that was made: its tool and its input.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        let replies = self
            .said
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Model(reply) => Some(reply),
                Message::Person(_) | Message::Results(_) => None,
            });
        let calls = replies.flat_map(|reply| &reply.calls);
        calls.map(|call| (&*call.tool, &*call.input))
    }

    async fn answer(&mut self) -> Reply {
        let began = Instant::now();
        let mut deltas = self.model.answer(Arc::new(self.said.clone()));
        let mut reply = Reply::default();
        self.lines.push_str("--\n");
        while let Some(delta) = deltas.next().await {
            let after = began.elapsed().as_millis();
            writeln!(self.lines, "{after:>4} {}", shown(&delta)).expect("a string takes it");
            match delta {
                Ok(delta) => take(delta, &mut reply),
                Err(_) => return Reply::default(),
            }
        }
        reply
    }
}

fn result(call: &MadeCall, outcome: Outcome) -> ModelResult {
    let (text, is_error) = match outcome {
        Ok(text) => (text, false),
        Err(text) => (text, true),
    };
    ModelResult {
        id: call.id.clone(),
        content: vec![text.into()],
        is_error,
    }
}

fn take(delta: Delta, reply: &mut Reply) {
    match delta {
        Delta::Text(text) => reply.text.push_str(&text),
        Delta::Thought(text) => reply.thoughts.push_str(&text),
        Delta::CallBegan { id, tool } => reply.calls.push(MadeCall {
            id,
            tool,
            input: "".into(),
        }),
        Delta::CallGrew { id, text } => {
            let call = reply.calls.iter_mut().find(|call| call.id == id);
            let call = call.expect("a call grows after it began");
            call.input = format!("{}{text}", call.input).into();
        }
        Delta::CallComplete { id } => {
            let made = reply.calls.iter().any(|call| call.id == id);
            assert!(made, "a call is complete after it began");
        }
        Delta::Used(_) => {}
    }
}

fn shown(delta: &Result<Delta, ModelError>) -> String {
    match delta {
        Ok(Delta::Text(text)) => format!("text {text:?}"),
        Ok(Delta::Thought(text)) => format!("thought {text:?}"),
        Ok(Delta::CallBegan { id, tool }) => format!("{id} began: {tool}"),
        Ok(Delta::CallGrew { id, text }) => format!("{id} grew: {text}"),
        Ok(Delta::CallComplete { id }) => format!("{id} complete"),
        Ok(Delta::Used(usage)) => format!("used {} of {}", usage.used, usage.window),
        Err(error) => format!("error: {error}"),
    }
}
