//! Models: what answers the user with text, thoughts and tool calls, as a stream.
//! A model runs nothing and decides nothing; the turn loop makes the calls it asks for.

mod conversation_state;
pub mod manual;
pub mod script;

use std::sync::Arc;

use futures::stream::BoxStream;
use thiserror::Error;
use toolcall::{Content, ModelResult, Registry};

/// A model. It keeps no state between replies: the conversation has everything.
pub trait Model: Send + Sync + 'static {
    /// Returns the name by which the user chooses it: `manual`, `script:demo.yaml`.
    fn name(&self) -> &str;

    /// Returns a one-sentence description for the user.
    fn description(&self) -> &str;

    /// Answers the last message. The stream is dropped when the turn is cancelled.
    ///
    /// It is called again with the results of its calls, until it makes none.
    fn answer(&self, said: Arc<Conversation>) -> BoxStream<'static, Result<Delta, ModelError>>;
}

/// The models to choose from. The first one answers unless the user chooses another.
#[derive(Clone)]
pub struct Models {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
}

impl Models {
    /// Returns a list with only this model.
    pub fn new(first: Arc<dyn Model>) -> Self {
        Self {
            first,
            others: Vec::new(),
        }
    }

    /// Adds a model. A model whose name is taken is left out.
    pub fn and(mut self, other: Arc<dyn Model>) -> Self {
        if self.iter().all(|known| known.name() != other.name()) {
            self.others.push(other);
        }
        self
    }

    /// Returns the model that answers at first.
    pub fn first(&self) -> &Arc<dyn Model> {
        &self.first
    }

    /// Returns all models.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// The messages of a session so far, and the tools that a model may call.
#[derive(Clone)]
pub struct Conversation {
    /// The messages in order. The last one is to be answered.
    pub messages: Vec<Message>,
    /// The tools.
    pub tools: Arc<Registry>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// From the user: text, images, resources and links.
    Person(Vec<Content>),
    /// From the model.
    Model(Reply),
    /// The results of the calls of the reply before, in their order.
    Results(Vec<ModelResult>),
}

/// A whole reply of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Its thoughts.
    pub thoughts: String,
    /// Its text.
    pub text: String,
    /// Its calls.
    pub calls: Vec<MadeCall>,
}

/// A call as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeCall {
    /// The id under which its result goes back.
    pub id: Arc<str>,
    /// The tool.
    pub tool: Arc<str>,
    /// The input, as text that should be JSON.
    pub input: Arc<str>,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More of a thought.
    Thought(String),
    /// A call begins. The calls of one reply have different ids, and their inputs may be interleaved.
    CallBegan {
        /// Its id for the call.
        id: Arc<str>,
        /// The tool.
        tool: Arc<str>,
    },
    /// More of the input of a call, as text.
    CallGrew {
        /// The id of the call.
        id: Arc<str>,
        /// The text.
        text: String,
    },
    /// The input of a call is complete, and the call may run. A call that is not complete when the
    /// reply ends never runs.
    CallComplete {
        /// The id of the call.
        id: Arc<str>,
    },
    /// How full the model's context window is.
    Used(Usage),
}

/// How full a model's context window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The tokens in it.
    pub used: u64,
    /// The tokens that fit.
    pub window: u64,
}

/// Why a model could not answer, or not to the end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{reason}")]
pub struct ModelError {
    /// What is wrong, and what to do about it.
    pub reason: String,
}

impl ModelError {
    /// Returns an error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}
