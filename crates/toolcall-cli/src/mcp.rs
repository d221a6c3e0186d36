//! `toolcall mcp`: the MCP servers that are set up, changed and tried; and our own tools as one.
//! It only chooses; what is done is done elsewhere.

mod change;
mod list;
mod serve;
mod trial;

use std::process::ExitCode;

use crate::args::McpTask;
use toolcall_tools::command::Supervisor;

/// Does what was asked about servers.
pub(crate) async fn run(task: McpTask, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    match task {
        McpTask::List(here) => list::run(&here),
        McpTask::Add(adding) => change::add(&adding),
        McpTask::Remove(removing) => change::remove(&removing),
        McpTask::Serve(serving) => serve::run(serving, supervisor).await,
        McpTask::Test(testing) => trial::run(&testing, supervisor).await,
    }
}
