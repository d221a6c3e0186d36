//! Tool calls of a language model, from the request to the one ending: announced, judged, asked
//! about, run, streamed and recorded. The crate knows no wire format, no MCP, no sockets, no shell
//! and no real files; other crates of the workspace add those.
//!
//! # A first tool
//!
//! A tool has a name, a description, an input type and a `run` function. The [`Engine`] finds the
//! tool, checks the input against its JSON schema, asks the policy and runs it:
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use serde_json::json;
//! use toolcall::AllowAll;
//! use toolcall::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Text {
//!     /// The text whose words are counted.
//!     text: String,
//! }
//!
//! struct CountWords;
//!
//! impl Tool for CountWords {
//!     const NAME: &'static str = "count_words";
//!     const DESCRIPTION: &'static str = "Counts the words of a text.";
//!     type Input = Text;
//!     type Output = String;
//!
//!     async fn run(&self, input: Text, _context: &RunContext) -> Result<String, ToolError> {
//!         Ok(format!("{} words", input.text.split_whitespace().count()))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut registry = Registry::new();
//! registry.add(CountWords)?;
//! let engine = Engine::builder(registry).policy(AllowAll).build();
//!
//! let request = ToolRequest::new("count_words", json!({"text": "one call, one ending"}));
//! let outcome = engine.run(request).await;
//! assert!(outcome.ending().is_success());
//! assert_eq!(outcome.for_model().content, ["4 words".into()]);
//! # Ok(())
//! # }
//! ```
//!
//! # A tool that touches something
//!
//! A tool states what a call will do in [`Tool::prepare`]: it returns an [`Intent`] with a title and
//! the [`Touch`]es. The policy judges that intent, the user sees it, and the tool can do nothing else
//! while it runs. [`MemoryHost`] stands in for the machine in tests:
//!
//! ```
//! use std::sync::Arc;
//! use toolcall::prelude::*;
//! use toolcall::{AskDangerous, MemoryHost};
//! # use serde_json::json;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Input {
//!     /// The file to read.
//!     path: String,
//! }
//!
//! struct ReadFile;
//!
//! impl Tool for ReadFile {
//!     const NAME: &'static str = "read_file";
//!     const DESCRIPTION: &'static str = "Reads a text file.";
//!     type Input = Input;
//!     type Output = Arc<str>;
//!
//!     async fn prepare(&self, input: &Input, context: &PrepareContext) -> Result<Intent, ToolError> {
//!         let intent = Intent::new(Kind::Read, format!("Read {}", input.path));
//!         Ok(intent.touching(Touch::Reads(context.path(&input.path))))
//!     }
//!
//!     async fn run(&self, input: Input, context: &RunContext) -> Result<Arc<str>, ToolError> {
//!         context.read_text(&input.path).await
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut registry = Registry::new();
//! registry.add(ReadFile)?;
//! let engine = Engine::builder(registry)
//!     .cwd("/project")
//!     .host(Arc::new(MemoryHost::default().with_file("/project/notes.md", "buy milk")))
//!     .policy(AskDangerous)
//!     .build();
//!
//! let read = |path: &str| engine.run(ToolRequest::new("read_file", json!({"path": path})));
//! assert!(read("notes.md").await.ending().is_success());
//! // Outside the session's directory the policy asks, and this engine has no approver.
//! assert_eq!(read("/etc/passwd").await.ending().name(), "denied");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find what
//!
//! - Writing tools: [`tool`], [`prepare_context`], [`run_context`], [`intent`], [`content`],
//!   [`progress`], [`command`]; tools made at run time in [`custom`]; advice to authors in [`lint`].
//! - Running calls: [`registry`] and [`shared`] hold the tools, [`engine`] runs a [`request`] to its
//!   [`outcome`]; [`tracker`] records calls that an agent runs itself.
//! - Permission: [`policy`] judges an intent, [`approver`] answers a [`question`], [`form`] carries a
//!   server's questions.
//! - The record: [`event`] lists what can happen to a call, [`call`] folds the events into its state
//!   or reports an [`irregularity`], [`journal`] writes them, [`store`] keeps them, [`output`] holds
//!   what a call printed, [`usage`] logs a line per call.
//! - The machine: [`host`] is what tools may use of it, [`timestamp`] is the clock, [`ids`] names
//!   sessions, calls and questions.
//! - Text and inference: [`text`] cleans what is shown, [`kind`], [`title`] and [`arguments`] guess
//!   what a call does from its name and input, [`serde_forms`] writes values as JSON.
//!
//! Every public type is also at the root of the crate; [`prelude`] has the ten that most tools need.

pub mod approver;
pub mod arguments;
pub mod call;
pub mod command;
pub mod content;
pub mod custom;
pub mod engine;
pub mod event;
mod fit;
pub mod form;
pub mod host;
pub mod ids;
mod infer;
pub mod intent;
pub mod irregularity;
pub mod journal;
pub mod kind;
pub mod lint;
mod map;
pub mod outcome;
pub mod output;
mod partial;
pub mod policy;
pub mod prepare_context;
pub mod progress;
pub mod question;
pub mod registry;
mod repeat;
pub mod request;
pub mod run_context;
mod schedule;
mod schema;
pub mod serde_forms;
pub mod shared;
mod stop;
pub mod store;
pub mod text;
pub mod timestamp;
pub mod title;
pub mod tool;
pub mod tracker;
pub mod usage;

/// The names that most tools need: `use toolcall::prelude::*;`.
pub mod prelude {
    pub use crate::engine::Engine;
    pub use crate::intent::{Intent, Kind, Touch};
    pub use crate::prepare_context::PrepareContext;
    pub use crate::registry::Registry;
    pub use crate::request::ToolRequest;
    pub use crate::run_context::RunContext;
    pub use crate::tool::{Tool, ToolError};
}

pub use approver::{Answer, Approver};
pub use call::{AskedForm, AskedQuestion, Status, Timing, ToolCall};
pub use command::{Access, Command, Join, Part, Reading, Redirect, Stream, Target};
pub use content::{
    Blob, Content, Digest, FileBody, FileChange, FileEdit, Link, Resource, ResourceBody,
};
pub use custom::{CustomTool, around};
pub use engine::{CallHandle, Engine, EngineBuilder, InputStream, Limits, Trace, Turn};
pub use event::{
    Announced, Canceller, Decision, Effect, Ending, Event, EventKind, Exit, Finish, Heartbeat,
    InputGrowth, Judge, Lifetime, Outline, Prepared, Printed, Question, Remembered, Restatement,
    Rule, RuleName, ToolResult,
};
pub use form::{
    Choice, Field, FieldRequirement, FieldType, Form, FormAnswer, FormAnswered, FormError,
    FormQuestion, FormReply, FormValues, TextConstraints, TextFormat,
};
pub use host::{AppliedEdit, BoxFuture, Console, Host, HostError, MemoryHost};
pub use ids::{CallId, CallIds, QuestionId, SessionId};
pub use intent::{
    Annotations, Input, Intent, Kind, Location, Origin, Plan, PlanEntry, PlanStatus, Priority,
    Sketch, ToolIdentity, Touch,
};
pub use irregularity::Irregularity;
pub use journal::{Journal, JournalEntry, Reader, Ticket};
pub use lint::AuthorAdvice;
pub use outcome::{Advice, ModelResult, Outcome};
pub use output::{Completeness, Output, OutputBudget, Spill};
pub use policy::{
    AllowAll, AnswerContext, AskAll, AskDangerous, DenyAll, Policy, Rulebook, RulebookError,
    SessionContext, SessionRulebook, Verdict,
};
pub use prepare_context::PrepareContext;
pub use progress::Progress;
pub use question::{HiddenCharacter, QuestionItem, QuestionOption};
pub use registry::{Registry, RegistryError};
pub use request::ToolRequest;
pub use run_context::RunContext;
pub use shared::SharedRegistry;
pub use store::{MemoryStore, NoStore, Receipt, Record, Store, StoreError, replay};
pub use timestamp::{Clock, SystemClock, Timestamp};
pub use tool::{AnyTool, Tool, ToolDefinition, ToolError, erased};
pub use tracker::{TrackedCall, Tracker};
pub use usage::UsageLog;
