//! `toolcall mcp serve`: the built-in tools for another agent, on standard input and output.
//! It brings the parts together; nothing but the protocol is written to standard output.

use std::process::ExitCode;

use toolcall_agent::new_session;
use toolcall_tools::command::Supervisor;
use toolcall_tools::mcp;

use crate::args::Serving;
use crate::context::{Crew, Plan, Walls, Workshop};
use crate::places::Person;
use crate::ruling;

/// Serves until the input ends or Ctrl-C is pressed. Then nothing of it runs any more.
pub(crate) async fn run(serving: Serving, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let person = Person::here()?;
    let workshop = Workshop::open(Plan {
        layers: ruling::layers(&serving.ruling, &person)?,
        folder: serving.cwd,
        session: new_session(),
        person,
        supervisor,
        // Servers that are set up are not started, and so not served on.
        crew: Crew::Every,
        walls: match serving.sandbox {
            true => Walls::Sandbox,
            false => Walls::None,
        },
    })?;
    for warning in workshop.warnings() {
        anstream::eprintln!("warning: {warning}");
    }
    let recording = workshop.record("toolcall mcp serve")?;
    let engine = recording.keep(workshop.engine());
    let (reader, writer) = (tokio::io::stdin(), tokio::io::stdout());
    let served = tokio::select! {
        served = mcp::serve(engine, reader, writer) => served,
        _interrupted = tokio::signal::ctrl_c() => Ok(()),
    };
    workshop.close().await;
    recording.finish();
    served?;
    Ok(ExitCode::SUCCESS)
}
