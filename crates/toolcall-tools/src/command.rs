//! Runs commands on this machine: supervised, sandboxed on request, in the foreground or background.
//! It decides nothing about permission, and no process of a command outlives its supervisor.
//!
//! With a [`Supervisor`], every command gets a supervising process that adopts each process the
//! command starts and ends all of them: when the command ends, when it is stopped, and when the agent
//! dies. To use one, call [`Supervisor::enter`] first in `main`:
//!
//! ```no_run
//! use std::sync::Arc;
//! use toolcall_tools::command::{Commands, Network, Sandbox, Supervisor};
//! use toolcall_tools::local::Files;
//!
//! fn main() -> std::io::Result<()> {
//!     // In a process that was started as a supervisor, this call never returns.
//!     let supervisor = Supervisor::enter()?;
//!     let files = Arc::new(Files::open(&["/home/me/project".into()])?);
//!     let commands = Commands::new(files)
//!         .with_supervisor(supervisor)
//!         .with_sandbox(Sandbox::new(Network::Refused));
//!     // … a runtime, an engine and a host that runs its commands with `commands`.
//!     Ok(())
//! }
//! ```

mod caller;
mod environment;
mod executor;
mod jobs;
mod processes;
mod protocol;
mod redirects;
mod runner;
mod sandbox;
mod supervise;
mod supervisor;

#[cfg(feature = "mcp")]
pub(crate) use caller::Mark;
pub use caller::is_inside_tool_call;
pub use environment::command_environment;
pub use jobs::{JobError, JobId, JobOutput, JobStatus, Jobs};
pub use runner::{Commands, DEFAULT_GRACE};
pub use sandbox::{Network, Sandbox};
pub use supervisor::Supervisor;
