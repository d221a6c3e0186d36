//! The program `toolcall`: assembly and presentation only.
//! It makes no rules and knows no formats.

mod agent;
mod approver;
mod args;
mod call;
mod client;
mod completions;
mod config;
mod consent;
mod context;
mod demo;
mod history;
mod mcp;
mod pace;
mod places;
mod policy;
mod recording;
mod ruling;
mod screen;
mod stats;
#[cfg(feature = "telemetry")]
mod telemetry;
#[cfg(not(feature = "telemetry"))]
#[path = "telemetry_off.rs"]
mod telemetry;
mod tools;
mod trust;
mod view;
mod when;
mod wire;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use toolcall_agent::new_session;
use toolcall_tools::command::Supervisor;

use args::{Arguments, Task};
use context::{Crew, Plan, Walls, Workshop};
use places::Person;

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
    // Sessions of an agent must not wait for each other; everything else is one thing after another.
    let mut runtime = match task {
        Task::Agent(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime
        .enable_all()
        .build()
        .context("the program cannot begin")?;
    let code = runtime.block_on(async {
        match task {
            Task::Demo(wishes) => demo::run(wishes, supervisor).await,
            Task::Agent(wishes) => agent::run(wishes, supervisor).await,
            Task::Tools(listing) => {
                let workshop = Workshop::open(Plan {
                    session: new_session(),
                    folder: None,
                    person: Person::here()?,
                    supervisor,
                    walls: Walls::None,
                    layers: Vec::new(),
                    crew: Crew::Every,
                })?;
                let listed = tools::list(&listing, &*workshop.every_tool().await);
                workshop.close().await;
                listed
            }
            Task::Call(request) => {
                let person = Person::here()?;
                let workshop = Workshop::open(Plan {
                    session: new_session(),
                    folder: request.cwd.clone(),
                    layers: ruling::layers(&request.ruling, &person)?,
                    crew: Crew::Every,
                    person,
                    supervisor,
                    walls: match request.sandbox {
                        true => Walls::Sandbox,
                        false => Walls::None,
                    },
                })?;
                call::run(request, workshop).await
            }
            Task::Policy(task) => policy::run(task, supervisor).await,
            Task::Mcp(task) => mcp::run(task, supervisor).await,
            Task::History(wanted) => history::run(*wanted).await,
            Task::Stats(counting) => stats::run(&counting),
            Task::Trust(trusting) => trust::run(&trusting),
            Task::Config(task) => config::run(&task),
            Task::Completions { shell } => completions::print(shell),
        }
    });
    // A thread may still wait for what nobody types.
    runtime.shutdown_background();
    code
}
