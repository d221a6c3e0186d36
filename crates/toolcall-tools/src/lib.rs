//! The hands of toolcall: what tools do on this machine, beneath the roots of a session.
//! Nothing here asks for permission or knows a wire; both were settled before.
//!
//! # Features
//!
//! All are on by default. With `default-features = false` there are the tools for files, searches and commands.
//!
//! - `web`: the tools `fetch` and `web_search`. Brings reqwest and rustls.
//! - `mcp`: servers of the Model Context Protocol, and these tools as one. Brings rmcp; turns on `web`.
//! - `sandbox`: commands shut in by Landlock and seccomp, on Linux. Without it a command that is to run in a
//!   sandbox fails with "the sandbox cannot be built"; it never runs outside of one.

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
