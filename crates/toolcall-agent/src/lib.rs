//! An agent: sessions with a client, models that answer, and the loop that carries a turn.
//! It draws no screen and reads no settings of its own; whoever builds it hands in what it needs.

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
pub use servers::{ConfiguredServer, ConfiguredServers, ServerTrust, own_file};
pub use session_resources::{Plan, SessionResources, new_session};
pub use switch_mode::{SwitchInput, SwitchMode};
