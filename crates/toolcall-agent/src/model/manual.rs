//! The model `manual`: the user is the model, and every line of a prompt is a call.
//! It guesses nothing: unless every line can be read, no call is made.

mod help;
mod inputs;
mod lines;
mod prompt;
mod reading;
#[cfg(test)]
mod sample;
mod verbs;
mod words;

use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use toolcall::Registry;
use toolcall::text::clean_line;

use self::reading::{LineAction, LineCall};
use super::conversation_state::{Acquaintance, ConversationState};
use super::{Conversation, Delta, Model, ModelError};

/// How much of a line is quoted in a message, in characters.
const LONGEST_LINE: usize = 80;

/// A model that makes the calls that the user writes.
#[derive(Clone, Debug)]
pub struct Manual {
    connecting: Arc<str>,
}

impl Manual {
    /// Returns the model with a sentence on how to connect a real one, shown once in every conversation.
    pub fn new(connecting: impl Into<Arc<str>>) -> Self {
        Self {
            connecting: connecting.into(),
        }
    }

    fn deltas(&self, said: &Conversation) -> Vec<Delta> {
        let Some(place) = ConversationState::of(&said.messages) else {
            return Vec::new();
        };
        let mut deltas = match place.opening {
            Acquaintance::First => vec![self.greeting()],
            Acquaintance::Known => Vec::new(),
        };
        let text = prompt::text(place.prompt);
        match reading::steps(&text, &said.tools) {
            Ok(steps) if steps.is_empty() => deltas.push(Delta::Text(help::all(&said.tools))),
            Ok(steps) => deltas.extend(go_on(&steps, &place, &said.tools)),
            Err(unread) => deltas.push(Delta::Text(help::unread(&unread, &text, &said.tools))),
        }
        deltas
    }

    fn greeting(&self) -> Delta {
        let sentences = [
            "No model is connected, so your lines are the calls.",
            self.connecting.trim(),
            "`help` lists what you can write.",
        ];
        let sentences: Vec<&str> = sentences.into_iter().filter(|s| !s.is_empty()).collect();
        Delta::Text(format!("{}\n\n", sentences.join(" ")))
    }
}

impl Model for Manual {
    fn name(&self) -> &str {
        "manual"
    }

    fn description(&self) -> &str {
        "You are the model: your lines are the calls"
    }

    fn answer(&self, said: Arc<Conversation>) -> BoxStream<'static, Result<Delta, ModelError>> {
        stream::iter(self.deltas(&said).into_iter().map(Ok)).boxed()
    }
}

/// Returns the next call, with the text before it.
fn go_on(steps: &[LineAction], place: &ConversationState<'_>, tools: &Registry) -> Vec<Delta> {
    let (done, rest) = steps.split_at(behind_call(steps, place.calls));
    if place.results.iter().any(|result| result.is_error) {
        return stopped(done, rest);
    }
    let mut deltas = Vec::new();
    for step in rest {
        match step {
            LineAction::Help => deltas.push(Delta::Text(help::all(tools))),
            LineAction::Call(call) => {
                deltas.extend(made(call, place.calls_ever + 1));
                break;
            }
        }
    }
    deltas
}

/// The place behind the call of this number, from 1; 0 is the beginning.
fn behind_call(steps: &[LineAction], number: usize) -> usize {
    let calls = steps.iter().enumerate().filter(|(_, step)| match step {
        LineAction::Call(_) => true,
        LineAction::Help => false,
    });
    let places = calls.map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(places)
        .nth(number)
        .unwrap_or(steps.len())
}

/// After a failed call the rest is not run, since it may depend on that call.
fn stopped(done: &[LineAction], rest: &[LineAction]) -> Vec<Delta> {
    let (Some(LineAction::Call(failed)), Some(_)) = (done.last(), rest.first()) else {
        return Vec::new();
    };
    let line = clean_line(&failed.line, LONGEST_LINE);
    let rest = match rest.len() {
        1 => "the line after it was".to_owned(),
        lines => format!("the {lines} lines after it were"),
    };
    vec![Delta::Text(format!(
        "`{line}` did not work, so {rest} not run.\n"
    ))]
}

fn made(call: &LineCall, number: usize) -> [Delta; 3] {
    let id: Arc<str> = format!("manual-{number}").into();
    [
        Delta::CallBegan {
            id: id.clone(),
            tool: call.tool.clone(),
        },
        Delta::CallGrew {
            id: id.clone(),
            text: call.input.to_string(),
        },
        Delta::CallComplete { id },
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolcall::{Content, Link};

    use super::*;
    use crate::model::Message;

    fn deltas(prompt: Vec<Content>) -> Vec<Delta> {
        let said = Conversation {
            messages: vec![Message::Person(prompt)],
            tools: Arc::new(sample::tools()),
        };
        Manual::new("").deltas(&said)
    }

    /// Words that mean something, so that random texts get past the first one.
    fn likely_text() -> impl Strategy<Value = String> {
        let likely =
            "(read|list|find|search|run|write|edit|delete|move|fetch|think|plan|mode|get-sum|help)";
        let glue = "( |\n|:|=>|'|\"|\\{|\\}|```|- |\\+ | in | to |a=1|1-2|é|;|\\PC{0,3}){0,8}";
        let line = (likely, glue).prop_map(|(verb, rest)| verb + &rest);
        prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"))
    }

    /// Nothing panics, and whatever is asked for can be asked for.
    fn check_any(text: &str) {
        let link = Content::Link(Link {
            uri: text.into(),
            ..Link::default()
        });
        let tools = sample::tools();
        for delta in deltas(vec![text.into(), link, text.into()]) {
            match delta {
                Delta::CallBegan { tool, .. } => assert!(tools.definition(&tool).is_some()),
                Delta::CallGrew { text, .. } => {
                    let input: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                    assert!(input.is_object(), "{input}");
                }
                Delta::Text(text) => assert!(!text.is_empty()),
                Delta::CallComplete { .. } => {}
                Delta::Thought(_) | Delta::Used(_) => panic!("not of this model"),
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,200}") {
            check_any(&text);
        }

        #[test]
        fn no_half_command_makes_it_panic(text in likely_text()) {
            check_any(&text);
        }
    }
}
