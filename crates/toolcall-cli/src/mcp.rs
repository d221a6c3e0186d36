//! `toolcall mcp`: lists, adds, removes and tests MCP servers, and serves the built-in tools as one.
//! It only dispatches.

mod change;
mod list;
mod probe;
mod serve;

use std::process::ExitCode;

use crate::args::McpCommand;
use toolcall_tools::command::Supervisor;

/// Runs a `toolcall mcp` command.
pub(crate) async fn run(command: McpCommand, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    match command {
        McpCommand::List(args) => list::run(&args),
        McpCommand::Add(args) => change::add(&args),
        McpCommand::Remove(args) => change::remove(&args),
        McpCommand::Serve(args) => serve::run(args, supervisor).await,
        McpCommand::Test(args) => probe::run(&args, supervisor).await,
    }
}
