//! The model `script`: plays turns from a file, for demos and tests.
//! It keeps no state; its position follows from the conversation.

mod error;
mod expectation;
mod file;
mod playback;
mod step;
mod written;

use std::path::Path;
use std::sync::Arc;

use futures::stream::BoxStream;

pub use self::error::{ScriptError, ScriptFault};
use self::step::ScriptTurn;
use super::conversation_state::{self, ConversationState};
use super::{Conversation, Delta, Message, Model, ModelError};

/// A script: the text and the calls for each prompt. `docs/script.md` has its format.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    turns: Vec<ScriptTurn>,
}

impl Script {
    /// Parses a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let turns = file::turns(text).map_err(ScriptError::Format)?;
        Ok(Self { turns })
    }

    /// Reads a script from a file.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let turns = file::read(path)?;
        Ok(Self { turns })
    }

    /// Returns the script without its pauses.
    pub fn at_once(mut self) -> Self {
        let steps = self.turns.iter_mut().flat_map(|turn| &mut turn.steps);
        steps.for_each(|step| step.deed.hurry());
        self
    }

    /// Returns the turn for the last prompt: the first whose `when` is in it, or else the next one in
    /// order, or `None` if all have been played.
    fn turn(&self, messages: &[Message]) -> Option<&ScriptTurn> {
        let mut in_order = self.turns.iter().filter(|turn| turn.when.is_none());
        let mut turn = None;
        for message in messages {
            match message {
                Message::Person(prompt) => {
                    let text = conversation_state::texts(prompt);
                    turn = self.called_for(&text).or_else(|| in_order.next());
                }
                Message::Model(_) | Message::Results(_) => {}
            }
        }
        turn
    }

    fn called_for(&self, prompt: &str) -> Option<&ScriptTurn> {
        let fits = |turn: &&ScriptTurn| {
            let when = turn.when.as_deref();
            when.is_some_and(|when| prompt.contains(when))
        };
        self.turns.iter().find(fits)
    }
}

/// A model that plays a script.
#[derive(Clone, Debug)]
pub struct ScriptModel {
    name: Arc<str>,
    script: Arc<Script>,
}

impl ScriptModel {
    /// Returns the model with a name such as `script:demo.yaml`.
    pub fn new(name: impl Into<Arc<str>>, script: impl Into<Arc<Script>>) -> Self {
        Self {
            name: name.into(),
            script: script.into(),
        }
    }

    fn over(&self) -> Delta {
        Delta::Text(format!(
            "The script `{}` is over. Begin a new session to play it again, or choose another \
             model to go on.\n",
            self.name
        ))
    }
}

impl Model for ScriptModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        "Plays what is written in a file"
    }

    fn answer(&self, said: Arc<Conversation>) -> BoxStream<'static, Result<Delta, ModelError>> {
        let Some(place) = ConversationState::of(&said.messages) else {
            return playback::play(Vec::new());
        };
        playback::play(match self.script.turn(&said.messages) {
            Some(turn) => playback::of(turn, &place),
            None => vec![playback::PlaybackStep::Told(self.over())],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompts: &[&str]) -> Option<usize> {
        let text =
            "[[{say: one}], [{when: fix}, {say: fixed}], [{say: two}], [{when: it}, {say: it}]]";
        let script = Script::parse(text).expect("a script");
        let said = |text: &&str| Message::Person(vec![(*text).into()]);
        let messages: Vec<Message> = prompts.iter().map(said).collect();
        let turn = script.turn(&messages)?;
        script.turns.iter().position(|other| other == turn)
    }

    #[test]
    fn at_once_leaves_out_pauses_and_nothing_else() {
        let slow =
            "[[{say: one, stream: {pieces: 2}}, {pause_ms: 9}, {call: {tool: t}, stream: {}}]]";
        let quick = "[[{say: one, stream: {pieces: 2, delay_ms: 0}}, {pause_ms: 0}, {call: {tool: t}, stream: {delay_ms: 0}}]]";
        let [slow, quick] = [slow, quick].map(|text| Script::parse(text).expect("a script"));
        assert_ne!(slow, quick);
        assert_eq!(slow.at_once(), quick);
    }

    #[test]
    fn turns_are_played_in_order_unless_the_prompt_calls_for_one() {
        assert_eq!(check(&["a"]), Some(0));
        assert_eq!(check(&["a", "b"]), Some(2));
        assert_eq!(check(&["please fix it", "b"]), Some(0));
        assert_eq!(check(&["a", "please fix it"]), Some(1));
        assert_eq!(check(&["fix", "fix"]), Some(1));
        assert_eq!(check(&["it"]), Some(3));
        assert_eq!(check(&["a", "b", "c"]), None);
        assert_eq!(check(&["a", "b", "c", "fix"]), Some(1));
    }
}
