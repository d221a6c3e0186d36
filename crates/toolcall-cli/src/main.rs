//! The program `toolcall`: assembly and presentation only.
//! It makes no rules and knows no formats.

mod approver;
mod arguments;
mod call;
mod completions;
mod demo;
mod pace;
mod screen;
mod tools;
mod view;
mod wire;
mod workshop;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use toolcall_tools::command::Supervisor;

use arguments::{Arguments, Task};
use workshop::{Walls, Workshop};

fn main() -> ExitCode {
    // First of all: a process that was started to supervise a command does that and nothing else.
    let supervisor = Supervisor::enter();
    match supervisor
        .context("this program cannot find itself")
        .and_then(run)
    {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let task = Arguments::parse().task;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the program cannot begin")?;
    let code = runtime.block_on(async {
        match task {
            Task::Demo(wishes) => demo::run(wishes, supervisor).await,
            Task::Tools(listing) => {
                let workshop = Workshop::open(None, supervisor, Walls::None)?;
                tools::list(&listing, &workshop.registry()?)
            }
            Task::Call(request) => {
                let walls = match request.sandbox {
                    true => Walls::Sandbox,
                    false => Walls::None,
                };
                let workshop = Workshop::open(request.cwd.as_deref(), supervisor, walls)?;
                call::run(request, workshop).await
            }
            Task::Completions { shell } => completions::print(shell),
        }
    });
    // A thread may still wait for what nobody types.
    runtime.shutdown_background();
    code
}
