//! The built-in tools of toolcall and the machine they act on: files, commands, the web, MCP servers.
//! It grants no permission and speaks no client protocol: the engine has decided before a tool runs.
//!
//! A [`Toolset`] opens everything that the tools of one session need. It registers the tools and
//! provides the [`toolcall::Host`] through which they change files and run commands:
//!
//! ```
//! use serde_json::json;
//! use toolcall::{AskDangerous, Engine, Registry, ToolRequest};
//! use toolcall_tools::{Toolset, ToolsetConfig};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temp = tempfile::tempdir()?;
//! # let (root, state) = (temp.path().join("project"), temp.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! std::fs::write(root.join("notes.txt"), "hello\n")?;
//!
//! let toolset = Toolset::open(ToolsetConfig::new(vec![root.clone()], state))?;
//! let mut tools = Registry::new();
//! toolset.add_to(&mut tools)?;
//! let engine = Engine::builder(tools).cwd(root).host(toolset.host()).policy(AskDangerous).build();
//!
//! let outcome = engine.run(ToolRequest::new("read_file", json!({"path": "notes.txt"}))).await;
//! assert!(outcome.ending().is_success());
//! toolset.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! - [`tools`]: the tools themselves, one file each: `read_file`, `edit_file`, `search_files`,
//!   `run_command` and the others. Start here to see how a tool is written.
//! - `local`: files beneath the roots of a session ([`local::Files`]), long output
//!   ([`local::Spills`]) and deleted files ([`local::Trash`]). Every path is walked through directory
//!   handles, so a symlink that is swapped in cannot lead outside.
//! - `command`: the runner of commands ([`command::Commands`]), commands in the background
//!   ([`command::Jobs`]), the [`command::Supervisor`] that ends every process of a command, and the
//!   [`command::Sandbox`].
//! - `mcp`: servers of the Model Context Protocol, whose tools join those of the session, and
//!   [`mcp::serve`], which offers our tools as such a server.
//! - `web`: settings of `fetch` and `web_search`, and what they share: checked addresses, limits,
//!   readable text.
//! - [`Toolset`] puts these together; [`LocalHost`] is the host alone, for a program that brings its
//!   own tools.
//!
//! All but `tools` and `web` need Unix.
//!
//! # Features
//!
//! All are on by default. With `default-features = false` there are the tools for files, searches
//! and commands.
//!
//! - `web`: the tools `fetch` and `web_search`. Brings reqwest and rustls.
//! - `mcp`: the module `mcp`. Brings rmcp; turns on `web`.
//! - `sandbox`: commands confined by Landlock and seccomp, on Linux. Without it, a command that is to
//!   run in a sandbox fails with "the sandbox cannot be built"; it never runs outside of one.

#[cfg(unix)]
pub mod command;
mod editing;
#[cfg(unix)]
mod host;
#[cfg(unix)]
pub mod local;
#[cfg(all(unix, feature = "mcp"))]
pub mod mcp;
pub mod tools;
#[cfg(unix)]
mod toolset;
#[cfg(feature = "web")]
pub mod web;
#[cfg(unix)]
mod window;

#[cfg(unix)]
pub use host::LocalHost;
#[cfg(unix)]
pub use toolset::{Toolset, ToolsetConfig, ToolsetError};
