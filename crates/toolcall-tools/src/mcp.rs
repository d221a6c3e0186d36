//! Servers of the Model Context Protocol, as tools of a session.
//! Nothing is started or connected before it is asked for, and nothing a server claims lowers a verdict.
//!
//! [`parse_settings`] reads which servers somebody set up; whoever trusts them hands them to
//! [`Servers`], which starts each on its own and keeps a [`toolcall::SharedRegistry`] in step with
//! what they offer.

mod call;
mod client;
mod connection;
mod decode;
mod dial;
mod edit;
mod form;
mod http;
mod lines;
mod listing;
mod log;
mod names;
mod notifications;
mod parse;
mod process;
mod result;
mod serve;
mod server;
mod servers;
mod settings;
mod status;
#[cfg(test)]
mod tests;
mod tool;
mod tool_cache;
mod transport;

pub use url::Url;

pub use crate::web::Secret;
pub use edit::{add_server, remove_server};
pub use parse::{SettingsError, parse_settings};
pub use serve::{ServeError, serve};
pub use servers::{Servers, ServersError, Surroundings};
pub use settings::{Address, Launch, Program, ServerSettings, Timeouts, ToolDisplay};
pub use status::{ServerState, ServerStatus};
