//! The hands of toolcall: what tools do on this machine, beneath the roots of a session.
//! Nothing here asks for permission or knows a wire; both were settled before.

#[cfg(unix)]
pub mod command;
mod editing;
#[cfg(unix)]
mod host;
#[cfg(unix)]
pub mod local;
#[cfg(unix)]
#[cfg(unix)]
pub mod mcp;
pub mod tools;
#[cfg(unix)]
mod toolset;
pub mod web;
#[cfg(unix)]
mod window;

#[cfg(unix)]
pub use host::LocalHost;
#[cfg(unix)]
pub use toolset::{Toolset, ToolsetConfig, ToolsetError};
