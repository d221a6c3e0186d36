//! What answers a person: a model, which speaks, thinks and asks for tools, a bit at a time.
//! A model runs nothing and decides nothing; what it asks for is the turn's to carry.

pub mod manual;
mod place;
pub mod script;

use std::sync::Arc;

use futures::stream::BoxStream;
use thiserror::Error;
use toolcall::{Content, ModelResult, Registry};

/// Something that answers.
pub trait Model: Send + Sync + 'static {
    /// Its name, as people choose it: `manual`, `script:demo.yaml`.
    fn name(&self) -> &str;

    /// What it is, in one sentence for people.
    fn description(&self) -> &str;

    /// Answers what was said last. The stream is dropped when nobody wants the rest of it.
    ///
    /// It is called again with the results of the calls that it asked for, until it asks for none.
    fn answer(&self, said: Arc<Conversation>) -> BoxStream<'static, Result<Delta, ModelError>>;
}

/// Those that may answer. The first does, unless the person chooses another.
#[derive(Clone)]
pub struct Models {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
}

impl Models {
    /// Only this one.
    pub fn new(first: Arc<dyn Model>) -> Self {
        Self {
            first,
            others: Vec::new(),
        }
    }

    /// And this one. One of a name that is there already is left out.
    pub fn and(mut self, other: Arc<dyn Model>) -> Self {
        if self.iter().all(|known| known.name() != other.name()) {
            self.others.push(other);
        }
        self
    }

    /// The one that answers at first.
    pub fn first(&self) -> &Arc<dyn Model> {
        &self.first
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// What was said in a session so far, and what may be asked for.
#[derive(Clone)]
pub struct Conversation {
    /// In the order in which it was said. The last one is to be answered.
    pub messages: Vec<Message>,
    /// The tools there are.
    pub tools: Arc<Registry>,
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// By the person: text, images, resources and links.
    Person(Vec<Content>),
    /// By the model.
    Model(Reply),
    /// What came of the calls of the reply before, in their order.
    Results(Vec<ModelResult>),
}

/// An answer of the model, as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it thought.
    pub thoughts: String,
    /// What it said.
    pub text: String,
    /// What it asked for.
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

/// A bit of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// More of what it says.
    Text(String),
    /// More of what it thinks.
    Thought(String),
    /// It begins to ask for a tool. Calls of one answer have different ids, and may be written
    /// side by side.
    CallBegan {
        /// Its id for the call.
        id: Arc<str>,
        /// The tool.
        tool: Arc<str>,
    },
    /// More of the input of a call, as text.
    CallGrew {
        /// Which.
        id: Arc<str>,
        /// The text.
        text: String,
    },
    /// The input of a call is complete, and it may run. What is not complete when the answer ends
    /// never runs.
    CallComplete {
        /// Which.
        id: Arc<str>,
    },
    /// How much of its window is used by now.
    Used(Usage),
}

/// How full a model's window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens in it.
    pub used: u64,
    /// Tokens that fit.
    pub window: u64,
}

/// Why there is no answer, or no more of it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{reason}")]
pub struct ModelError {
    /// What is wrong, and what to do about it.
    pub reason: String,
}

impl ModelError {
    /// With this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}
