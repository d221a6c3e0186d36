//! The agent's side of the [Agent Client Protocol](https://agentclientprotocol.com) (ACP) for tool calls.
//!
//! An editor starts an agent and exchanges JSON-RPC lines with it over standard input and output. This
//! crate reports every tool call of a [`toolcall::Engine`] to the editor, asks the user for permission,
//! and uses the files and terminals that the editor offers. It also decodes and lints what other agents
//! send. It runs no tool and decides nothing.
//!
//! # The smallest agent
//!
//! [`SimpleAgent`] takes two closures: one builds the engine of a new session, the other answers a
//! prompt. [`serve`] runs until the editor closes the connection. `examples/agent.rs` adds tools to this.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use serde_json::json;
//! use toolcall::{AskDangerous, Content, Engine, Registry, SessionContext, ToolRequest};
//! use toolcall_acp::{Prompt, SimpleAgent, StopReason, prompt_text, serve, stdio};
//!
//! async fn answer(prompt: Arc<Prompt>, content: Vec<Content>) -> StopReason {
//!     let text = prompt_text(&content);
//!     // Reports the call to the editor, and asks the user if the policy says so.
//!     let outcome = prompt.call(ToolRequest::new("count", json!({"text": text}))).await;
//!     prompt.say(outcome.ending().name()).await;
//!     StopReason::EndTurn
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::io::Result<()> {
//!     let tools = Arc::new(Registry::new());
//!     let open = move |context: SessionContext| {
//!         Engine::builder(tools.clone()).setting(context).policy(AskDangerous)
//!     };
//!     let (client, transport) = stdio();
//!     let agent = SimpleAgent::new(client.clone(), open, answer);
//!     serve(client, transport, Arc::new(agent)).await
//! }
//! ```
//!
//! # Modules
//!
//! For agents:
//! - [`service`]: the [`Service`](service::Service) trait, what an agent implements when it stores
//!   sessions, has options or authenticates users.
//! - [`server`]: serves a service to one client.
//! - [`session`]: one session, with its engine, its prompts and what it sends to the client.
//! - [`meta`]: the keys that this crate puts into `_meta`.
//!
//! For clients, recorders and linters:
//! - [`decode`]: decodes what an agent reports into events of the core, leniently and from raw JSON.
//! - [`mod@lint`]: checks a recorded stream against the rules of [`finding`].
//! - [`v1`]: version 1 of the protocol, to encode and decode single updates.
//!
//! The connection itself:
//! - [`transport`]: connects a reader and a writer to a peer, within limits.
//! - [`peer`]: sends requests and notifications to the peer.
//! - [`dispatch`]: handles the peer's requests and notifications.
//! - [`lane`]: the bounded queue of lines to the peer.

mod codec;
pub mod decode;
pub mod dispatch;
pub mod finding;
mod inbound;
pub mod lane;
pub mod lint;
pub mod meta;
pub mod peer;
mod report;
mod requests;
pub mod server;
pub mod service;
pub mod session;
mod trace;
pub mod transport;
pub mod v1;
mod version;
mod wire;

pub use server::{ClientConnection, SimpleAgent, prompt_text, serve, stdio};
pub use service::StopReason;
pub use session::{Prompt, Session};
pub use trace::TraceContext;
pub use version::ProtocolVersion;
