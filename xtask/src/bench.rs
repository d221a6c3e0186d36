//! `cargo xtask bench`: runs the package `bench` in release mode, with what some of its benchmarks need beside them.
//! It measures nothing itself.

use std::path::Path;

use clap::Args;

use crate::agents;
use crate::step::{Step, cargo};

/// What `cargo xtask bench --help` ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask bench --list              the benchmarks, a line each
  cargo xtask bench lifecycle           a table: ours, reference, ratio (spread)
  cargo xtask bench lifecycle --json    one JSON object per row

Both sides run in turn, in at least seven pairs. The ratio is ours / reference, the
median of the pairs, so it can be compared between machines; times cannot.";

/// Which benchmark to run, and how to print it.
#[derive(Args)]
pub(crate) struct Choice {
    /// The benchmark to run
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// Print one JSON object per row instead of a table
    #[arg(long)]
    json: bool,
    /// List the benchmarks
    #[arg(long, conflicts_with_all = ["name", "json"])]
    list: bool,
}

/// Benchmarks of the whole program, which they expect beside their own.
const OF_THE_PROGRAM: [&str; 2] = ["start", "sessions"];

/// The benchmark that starts agents of others.
const OF_OTHERS: &str = "start";

/// Runs the chosen benchmark, or lists them.
///
/// Programs are named, packages are not: cargo then takes the features of the whole workspace, as
/// `cargo run --release -- demo` does, and builds no crate a second time with others.
pub(crate) fn run(root: &Path, choice: Choice) -> Result<(), String> {
    let name = choice.name.as_deref().unwrap_or_default();
    if OF_THE_PROGRAM.contains(&name) {
        let args = ["build", "--release", "--quiet", "--bin", "toolcall"];
        Step::new("build", cargo(root, args)).run()?;
    }
    let agents = (name == OF_OTHERS).then(|| agents::prepare(root)).flatten();
    let args = ["run", "--release", "--quiet", "--bin", "bench", "--"];
    let mut command = cargo(root, args);
    command.envs(agents.map(|place| (agents::PLACE, place)));
    command.args(choice.name);
    command.args(choice.json.then_some("--json"));
    command.args(choice.list.then_some("--list"));
    Step::new("bench", command).run()
}
