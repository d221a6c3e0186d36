//! What comes of a call, for the loop that talks to the model.
//! It reads an ended call; it changes nothing.

use std::sync::Arc;

use crate::call::ToolCall;
use crate::content::Content;
use crate::event::{Ending, ToolResult};
use crate::ids::CallId;
use crate::text::clean_block;

/// An ended call, and what to tell the model about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The call, as it will stay.
    pub call: Arc<ToolCall>,
    /// Whether the model repeats itself.
    pub advice: Advice,
}

/// What to do about a model that makes the same failing call again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    None,
    /// Remind it, with these words. They are in [`Outcome::for_model`] already.
    Remind(Arc<str>),
    /// End the turn: reminders did not help. The same call is no longer run.
    Stop(Arc<str>),
}

/// A result as a model takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResult {
    /// The id that the model gave the call, or ours if it gave none.
    pub id: Arc<str>,
    /// What to tell it. Never empty.
    pub content: Vec<Content>,
    /// Whether it went wrong.
    pub is_error: bool,
}

impl Outcome {
    /// The call's id.
    pub fn id(&self) -> &CallId {
        self.call.id()
    }

    /// How it ended.
    pub fn ending(&self) -> &Ending {
        match self.call.ending() {
            Some(ending) => ending,
            None => unreachable!("an outcome is made from an ended call"),
        }
    }

    /// What it produced.
    pub fn result(&self) -> &ToolResult {
        match self.call.finish() {
            Some(finish) => &finish.result,
            None => unreachable!("an outcome is made from an ended call"),
        }
    }

    /// What to give back to the model: why it did not complete, what it printed, what it gave.
    pub fn for_model(&self) -> ModelResult {
        let mut content: Vec<Content> = self
            .ending()
            .reason()
            .map(Content::text)
            .into_iter()
            .collect();
        let output = self.call.output();
        if !output.is_empty() {
            content.push(Content::text(clean_block(&output.text())));
        }
        if let Some(spill) = output.spill() {
            let said = format!("{}: {}", spill.uri, spill.summary());
            content.push(Content::text(said));
        }
        content.extend(self.result().content.iter().cloned());
        if let (true, Some(value)) = (self.result().content.is_empty(), &self.result().structured) {
            content.push(Content::text(value.to_string()));
        }
        if content.is_empty() {
            content.push(Content::text("(no output)"));
        }
        if let Advice::Remind(words) | Advice::Stop(words) = &self.advice {
            content.push(Content::Text(words.clone()));
        }
        ModelResult {
            id: self.model_id(),
            content,
            is_error: !self.ending().is_success(),
        }
    }

    fn model_id(&self) -> Arc<str> {
        match self.call.model_id() {
            Some(id) => id.clone(),
            None => self.call.id().as_str().into(),
        }
    }
}
