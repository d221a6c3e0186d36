//! The outcome of a call, for the loop that talks to the model.
//! It reads an ended call; it changes nothing.

use std::sync::Arc;

use crate::call::ToolCall;
use crate::content::Content;
use crate::event::{Ending, ToolResult};
use crate::ids::CallId;
use crate::text::clean_block;

/// An ended call, and what to send to the model about it.
///
/// ```
/// use serde_json::json;
/// use toolcall::{Engine, Registry, ToolRequest};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let engine = Engine::builder(Registry::new()).build();
/// let request = ToolRequest::new("read_file", json!({})).model_id("toolu_1");
/// let result = engine.run(request).await.for_model();
/// assert_eq!(&*result.id, "toolu_1");
/// assert!(result.is_error, "there is no such tool");
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The final state of the call.
    pub call: Arc<ToolCall>,
    /// What to do about repeated failures.
    pub advice: Advice,
}

/// What to do about a model that repeats the same failing call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    None,
    /// Send it this reminder, which [`Outcome::for_model`] already contains.
    Remind(Arc<str>),
    /// End the turn: reminders did not help. The same call is not run again.
    Stop(Arc<str>),
}

/// A result to send to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResult {
    /// The id that the model gave the call, or the call's own id if it gave none.
    pub id: Arc<str>,
    /// The content. Never empty.
    pub content: Vec<Content>,
    /// Whether the call did not complete.
    pub is_error: bool,
}

impl Outcome {
    /// Returns the call's id.
    pub fn id(&self) -> &CallId {
        self.call.id()
    }

    /// Returns how the call ended.
    pub fn ending(&self) -> &Ending {
        match self.call.ending() {
            Some(ending) => ending,
            None => unreachable!("an outcome is made from an ended call"),
        }
    }

    /// Returns what the tool produced.
    pub fn result(&self) -> &ToolResult {
        match self.call.finish() {
            Some(finish) => &finish.result,
            None => unreachable!("an outcome is made from an ended call"),
        }
    }

    /// Returns the result to send to the model: why the call did not complete, what it printed,
    /// what it returned.
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
            let note = format!("{}: {}", spill.uri, spill.summary());
            content.push(Content::text(note));
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
