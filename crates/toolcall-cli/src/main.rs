//! The program `toolcall`: parses arguments, wires the libraries together and prints results.
//! It defines no rules and no formats: those are in the libraries.

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
mod environment;
mod history;
mod mcp;
mod pace;
mod policy;
mod policy_layers;
mod recording;
mod screen;
mod stats;
#[cfg(feature = "telemetry")]
mod telemetry;
#[cfg(not(feature = "telemetry"))]
#[path = "telemetry_off.rs"]
mod telemetry;
mod time;
mod tools;
mod trust;
mod view;
mod wire;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use toolcall_agent::new_session;
use toolcall_tools::command::Supervisor;

use args::{CliArgs, CliCommand};
use context::{CliContext, CliContextOptions, CommandIsolation, ServerSelection};
use environment::UserEnvironment;

fn main() -> ExitCode {
    // First of all: a process that was started to supervise a command never returns from here.
    let supervisor = Supervisor::enter();
    match supervisor
        .context("the path of this program cannot be determined")
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
    let command = CliArgs::parse().command;
    // Sessions of an agent must not wait for each other; every other command is sequential.
    let mut runtime = match command {
        CliCommand::Agent(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime
        .enable_all()
        .build()
        .context("the async runtime cannot be started")?;
    let code = runtime.block_on(async {
        match command {
            CliCommand::Demo(args) => demo::run(args, supervisor).await,
            CliCommand::Agent(args) => agent::run(args, supervisor).await,
            CliCommand::Tools(args) => {
                let context = CliContext::open(CliContextOptions {
                    session: new_session(),
                    directory: None,
                    user: UserEnvironment::from_env()?,
                    supervisor,
                    isolation: CommandIsolation::None,
                    layers: Vec::new(),
                    servers: ServerSelection::All,
                })?;
                let listed = tools::list(&args, &*context.all_tools().await);
                context.close().await;
                listed
            }
            CliCommand::Call(args) => {
                let user = UserEnvironment::from_env()?;
                let context = CliContext::open(CliContextOptions {
                    session: new_session(),
                    directory: args.cwd.clone(),
                    layers: policy_layers::from_args(&args.policy_args, &user)?,
                    servers: ServerSelection::All,
                    user,
                    supervisor,
                    isolation: CommandIsolation::from_flag(args.sandbox),
                })?;
                call::run(args, context).await
            }
            CliCommand::Policy(command) => policy::run(command, supervisor).await,
            CliCommand::Mcp(command) => mcp::run(command, supervisor).await,
            CliCommand::History(args) => history::run(*args).await,
            CliCommand::Stats(args) => stats::run(&args),
            CliCommand::Trust(args) => trust::run(&args),
            CliCommand::Config(command) => config::run(&command),
            CliCommand::Completions { shell } => completions::print(shell),
        }
    });
    // A thread may still be blocked reading standard input.
    runtime.shutdown_background();
    code
}
