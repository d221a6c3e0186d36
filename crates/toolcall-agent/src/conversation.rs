//! The conversation of a session, rebuilt from its history.
//! Only what was recorded comes back: images, resources and redacted secrets do not.

use std::sync::Arc;

use toolcall::{Advice, Content, Input, Outcome, ToolCall};
use toolcall_history::Speaker;

use crate::commands;
use crate::model::{MadeCall, Message, Reply};
use crate::session_history::Scene;

/// Returns the messages of a session for the model that continues it.
pub(crate) fn rebuilt(scenes: &[Scene]) -> Vec<Message> {
    let mut messages = Rebuilding::default();
    for scene in scenes {
        match scene {
            Scene::Said { by, text } => messages.said(*by, text),
            Scene::Called(call) => messages.called(call),
        }
    }
    messages.finish();
    messages.done
}

#[derive(Default)]
struct Rebuilding {
    done: Vec<Message>,
    /// Whether the messages belong to a slash command, which no model sees.
    is_aside: bool,
    reply: Reply,
    calls: Vec<ToolCall>,
}

impl Rebuilding {
    fn said(&mut self, by: Speaker, text: &Arc<str>) {
        match by {
            Speaker::Person if commands::read_text(text).is_some() => {
                self.finish();
                self.is_aside = true;
            }
            Speaker::Person => {
                self.finish();
                self.is_aside = false;
                self.done
                    .push(Message::Person(vec![Content::Text(text.clone())]));
            }
            Speaker::Agent | Speaker::Thought if self.is_aside => {}
            Speaker::Agent | Speaker::Thought => {
                // Text after calls belongs to the next reply.
                if !self.calls.is_empty() {
                    self.finish();
                }
                match by {
                    Speaker::Thought => self.reply.thoughts.push_str(text),
                    Speaker::Agent | Speaker::Person => self.reply.text.push_str(text),
                }
            }
        }
    }

    fn called(&mut self, call: &ToolCall) {
        // Nested calls belong to their parent; a call that has not ended has no result.
        if call.parent().is_none() && call.ending().is_some() {
            self.calls.push(call.clone());
        }
    }

    /// Completes the reply and its results.
    fn finish(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        let mut reply = std::mem::take(&mut self.reply);
        reply.calls = calls.iter().map(made).collect();
        if reply != Reply::default() {
            self.done.push(Message::Model(reply));
        }
        let results: Vec<_> = calls.into_iter().map(result).collect();
        if !results.is_empty() {
            self.done.push(Message::Results(results));
        }
    }
}

fn made(call: &ToolCall) -> MadeCall {
    let id = call.model_id().cloned();
    MadeCall {
        id: id.unwrap_or_else(|| call.id().as_str().into()),
        tool: call.tool().clone(),
        input: match call.input() {
            Some(Input::Json(value)) => value.to_string().into(),
            Some(Input::Text(text)) => text.clone(),
            None => "{}".into(),
        },
    }
}

fn result(call: ToolCall) -> toolcall::ModelResult {
    let outcome = Outcome {
        call: Arc::new(call),
        advice: Advice::None,
    };
    outcome.for_model()
}
