//! The program `toolcall`: assembly and presentation only.
//! It makes no rules and knows no formats.

mod arguments;
mod completions;
mod demo;
mod screen;
mod view;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Task};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let ended = match Arguments::parse().task {
        Task::Demo(wishes) => demo::run(wishes).await,
        Task::Completions { shell } => completions::print(shell),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
