//! `toolcall mcp serve`: serves the built-in tools to another agent, on standard input and output.
//! Only the protocol goes to standard output.

use std::process::ExitCode;

use toolcall_agent::new_session;
use toolcall_tools::command::Supervisor;
use toolcall_tools::mcp;

use crate::args::McpServeArgs;
use crate::context::{CliContext, CliContextOptions, CommandIsolation, ServerSelection};
use crate::environment::UserEnvironment;
use crate::policy_layers;

/// Serves until the input ends or the user presses Ctrl-C. Every call has ended after that.
pub(crate) async fn run(args: McpServeArgs, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let user = UserEnvironment::from_env()?;
    let context = CliContext::open(CliContextOptions {
        layers: policy_layers::from_args(&args.policy_args, &user)?,
        directory: args.cwd,
        session: new_session(),
        user,
        supervisor,
        // Configured servers are never started here, so their tools are not served.
        servers: ServerSelection::All,
        isolation: CommandIsolation::from_flag(args.sandbox),
    })?;
    for warning in context.warnings() {
        anstream::eprintln!("warning: {warning}");
    }
    let recording = context.record("toolcall mcp serve")?;
    let engine = recording.attach(context.engine());
    let (reader, writer) = (tokio::io::stdin(), tokio::io::stdout());
    let served = tokio::select! {
        served = mcp::serve(engine, reader, writer) => served,
        _interrupted = tokio::signal::ctrl_c() => Ok(()),
    };
    context.close().await;
    recording.finish();
    served?;
    Ok(ExitCode::SUCCESS)
}
