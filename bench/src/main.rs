//! The program behind `cargo xtask bench`: picks a benchmark, runs it, prints its rows.
//! It measures nothing itself.

use std::process::ExitCode;

use bench::{BENCHES, FEWEST_PAIRS, Options, as_json, as_table, find, list, send};
use clap::Parser;
use toolcall_tools::command::Supervisor;

/// Compares toolcall with a reference, in interleaved pairs.
#[derive(Parser)]
#[command(
    after_help = "The ratio is ours / reference, the median of the pairs, with the smallest and the largest.\n\
                  A target is missed only when the whole spread misses it."
)]
struct Args {
    /// The benchmark to run
    #[arg(required_unless_present_any = ["list", "sender"])]
    name: Option<String>,
    /// Print one JSON object per row instead of a table
    #[arg(long)]
    json: bool,
    /// How many pairs each case runs (at least seven)
    #[arg(long, default_value_t = FEWEST_PAIRS)]
    pairs: usize,
    /// Play the other process of a benchmark (it starts itself so)
    #[arg(long, hide = true)]
    sender: Option<String>,
    /// List the benchmarks
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    // First of all: a process that was started to supervise a command does that and nothing else.
    let supervisor = match Supervisor::enter() {
        Ok(supervisor) => supervisor,
        Err(error) => {
            eprintln!("this program cannot find itself: {error}");
            return ExitCode::FAILURE;
        }
    };
    let args = Args::parse();
    if let Some(sender) = &args.sender {
        return send(sender, supervisor);
    }
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        println!("{}", list(BENCHES));
        return ExitCode::SUCCESS;
    };
    match find(BENCHES, name) {
        Ok(bench) => {
            let rows = (bench.run)(&Options { pairs: args.pairs });
            let text = if args.json {
                as_json(&rows)
            } else {
                as_table(&rows)
            };
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
