//! A complete ACP agent: sessions, models and the turn loop.
//! It draws no screen and reads no configuration file of its own; the program that builds it passes in what it needs.
//!
//! [`Agent`] is a [`Service`](toolcall_acp::service::Service) made from an [`AgentConfig`]; [`toolcall_acp::serve`] serves it to a
//! client. A [`model`] answers prompts: [`model::manual`] makes the calls that the user writes, [`model::script`] plays a file.
//! [`SessionResources`] are the tools, the policy and the MCP servers of one session.
//!
//! A script is a model that needs no network, for demos and tests:
//!
//! ```
//! use std::sync::Arc;
//!
//! use toolcall_agent::model::Models;
//! use toolcall_agent::model::script::{Script, ScriptModel};
//!
//! let script = Script::parse("- - say: Hello.")?;
//! let models = Models::new(Arc::new(ScriptModel::new("script:hello", script)));
//! assert_eq!(models.first().name(), "script:hello");
//! # Ok::<(), toolcall_agent::model::script::ScriptError>(())
//! ```

mod agent;
mod client_servers;
mod commands;
mod conversation;
mod markdown;
pub mod model;
pub mod pairs;
mod servers;
mod session;
mod session_history;
mod session_resources;
mod switch_mode;
mod turn;

pub use agent::{Agent, AgentConfig, Observer};
pub use servers::{ConfiguredServer, ConfiguredServers, ServerTrust, user_servers_file};
pub use session_resources::{SessionResources, SessionResourcesOptions, new_session};
pub use switch_mode::{SwitchInput, SwitchMode};
