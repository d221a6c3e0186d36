//! Servers of the Model Context Protocol (MCP), whose tools a session can call; and [`serve`], which offers our tools
//! to other MCP clients. No server is started before [`Servers::start`], and nothing a server claims lowers a verdict.
//!
//! [`parse_settings`] reads the servers that the user configured. The caller decides which of them to
//! trust and passes those to [`Servers`], which starts each one independently and keeps a
//! [`toolcall::SharedRegistry`] up to date with their tools.
//!
//! ```
//! use toolcall::{Registry, SharedRegistry};
//! use toolcall_tools::mcp::{Servers, ServerEnvironment, parse_settings};
//!
//! let settings = parse_settings(r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#)?;
//! let surroundings = ServerEnvironment::new(vec!["/project".into()], std::env::vars_os());
//! let registry = SharedRegistry::new(Registry::new());
//! let servers = Servers::new(settings, &surroundings, registry.clone())?;
//! // Nothing runs yet. `servers.start()` starts them; their tools then appear in `registry`.
//! assert_eq!(&*servers.status()[0].name, "time");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod client;
mod connection;
mod connector;
mod decode;
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
pub use parse::{ServerSettingsError, parse_settings};
pub use serve::{ServeError, serve};
pub use servers::{ServerEnvironment, Servers, ServersError};
pub use settings::{Address, Launch, Program, ServerSettings, ServerTimeouts, ToolDisplay};
pub use status::{ServerState, ServerStatus};
