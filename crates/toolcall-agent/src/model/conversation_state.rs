//! The state of a conversation: what is to be answered, and how much of the answer there is.
//! It is computed from the messages, so that a model keeps no state of its own.

use toolcall::{Content, ModelResult};

use super::Message;

/// The state of a conversation.
pub(super) struct ConversationState<'a> {
    /// The user's last message.
    pub(super) prompt: &'a [Content],
    /// How many replies to it there are so far.
    pub(super) answers: usize,
    /// How many calls those replies made.
    pub(super) calls: usize,
    /// How many calls there were in the whole conversation.
    pub(super) calls_ever: usize,
    /// The results of the latest calls. Empty if the prompt itself is to be answered.
    pub(super) results: &'a [ModelResult],
    /// Whether a model has answered before.
    pub(super) opening: Acquaintance,
}

/// Whether a model has answered before in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acquaintance {
    /// No model has answered yet.
    First,
    /// A model has answered before.
    Known,
}

impl<'a> ConversationState<'a> {
    /// Returns the state after these messages, if there is something to answer.
    pub(super) fn of(messages: &'a [Message]) -> Option<Self> {
        let results: &[ModelResult] = match messages.last()? {
            Message::Person(_) => &[],
            Message::Results(results) => results,
            Message::Model(_) => return None,
        };
        let (at, prompt) = messages.iter().enumerate().rev().find_map(prompt)?;
        let since = &messages[at..];
        let answers = count(messages, |_| 1);
        Some(Self {
            prompt,
            answers: count(since, |_| 1),
            calls: count(since, |calls| calls),
            calls_ever: count(messages, |calls| calls),
            results,
            opening: match answers {
                0 => Acquaintance::First,
                1.. => Acquaintance::Known,
            },
        })
    }
}

/// Returns the texts of a prompt, one below the other.
pub(super) fn texts(prompt: &[Content]) -> String {
    let texts = prompt.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Edit(_)
        | Content::Terminal(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn prompt((at, message): (usize, &Message)) -> Option<(usize, &[Content])> {
    match message {
        Message::Person(prompt) => Some((at, prompt)),
        Message::Model(_) | Message::Results(_) => None,
    }
}

/// Sums a value over the replies, computed from the number of calls of each.
fn count(messages: &[Message], worth: impl Fn(usize) -> usize) -> usize {
    let of = |message: &Message| match message {
        Message::Model(reply) => worth(reply.calls.len()),
        Message::Person(_) | Message::Results(_) => 0,
    };
    messages.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{MadeCall, Reply};

    fn reply(calls: usize) -> Message {
        let call = |number| MadeCall {
            id: format!("c{number}").into(),
            tool: Arc::from("t"),
            input: Arc::from("{}"),
        };
        Message::Model(Reply {
            calls: (0..calls).map(call).collect(),
            ..Reply::default()
        })
    }

    fn check(messages: &[Message]) -> Option<(String, usize, usize, usize, Acquaintance)> {
        let place = ConversationState::of(messages)?;
        Some((
            texts(place.prompt),
            place.answers,
            place.calls,
            place.calls_ever,
            place.opening,
        ))
    }

    #[test]
    fn only_what_came_since_the_last_prompt_is_an_answer_to_it() {
        let said = |text: &str| Message::Person(vec![text.into(), "more".into()]);
        let mut messages = vec![said("a")];
        let at = |text: &str| format!("{text}\nmore");
        assert_eq!(
            check(&messages),
            Some((at("a"), 0, 0, 0, Acquaintance::First))
        );
        messages.extend([reply(2), Message::Results(Vec::new())]);
        assert_eq!(
            check(&messages),
            Some((at("a"), 1, 2, 2, Acquaintance::Known))
        );
        messages.extend([reply(0), said("b")]);
        assert_eq!(
            check(&messages),
            Some((at("b"), 0, 0, 2, Acquaintance::Known))
        );
    }

    #[test]
    fn where_the_model_spoke_last_there_is_nothing_to_answer() {
        assert_eq!(check(&[]), None);
        assert_eq!(check(&[Message::Person(Vec::new()), reply(0)]), None);
        assert_eq!(check(&[Message::Results(Vec::new())]), None);
    }
}
