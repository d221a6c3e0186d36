//! The chores of this workspace behind `cargo xtask`: tidy, words, test, bench and build-report.
//! It never links a crate of the workspace, so that it compiles quickly and can judge a tree that does not.

mod agents;
mod bench;
mod build_report;
mod client;
mod collector;
mod pinned;
mod servers;
mod step;
mod suite;
mod tidy;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of the toolcall workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
#[command(after_help = "Before a commit: `cargo fmt`, then `cargo xtask test`.")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check the tree against the rules of the house; builds nothing
    #[command(after_help = tidy::rules_as_text())]
    Tidy,
    /// Count how plainly the tree speaks: shared names, boolean matches, doc examples
    Words {
        /// A checkout of an earlier state, counted beside this one
        before: Option<PathBuf>,
    },
    /// Run every test, every example of the library and `toolcall demo`
    ///
    /// The steps run in order; the first that fails ends the run with a non-zero exit code.
    #[command(after_help = suite::EXAMPLES)]
    Test {
        /// Passed on to `cargo test`
        #[arg(last = true, value_name = "CARGO TEST ARGS")]
        extra: Vec<OsString>,
    },
    /// Run one benchmark in release mode, ours against a reference
    #[command(after_help = bench::EXAMPLES)]
    Bench(bench::Choice),
    /// Build the program from an empty target folder and print what it costs, by crate
    #[command(after_help = build_report::ABOUT)]
    BuildReport,
}

fn main() -> ExitCode {
    if let Some(code) = build_report::compile_as_wrapper() {
        return code;
    }
    let done = match Args::parse().chore {
        Chore::Tidy => tidy::run(&root()),
        Chore::Words { before } => words::run(&root(), before.as_deref()),
        Chore::Test { extra } => suite::run(&root(), extra),
        Chore::Bench(choice) => bench::run(&root(), choice),
        Chore::BuildReport => build_report::run(&root()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace: the parent of this package, which cargo names for `cargo run` and `cargo test`.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let parent = package.and_then(|dir| dir.parent().map(PathBuf::from));
    parent.unwrap_or_else(|| PathBuf::from("."))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn arguments_after_the_dashes_go_to_cargo_test() {
        let args = Args::parse_from(["cargo xtask", "test", "--", "fold", "--nocapture"]);
        let Chore::Test { extra } = args.chore else {
            panic!("`test` was not understood");
        };
        assert_eq!(extra, ["fold", "--nocapture"]);
    }

    #[test]
    fn bench_wants_a_name_or_the_list() {
        assert!(Args::try_parse_from(["cargo xtask", "bench"]).is_err());
        assert!(Args::try_parse_from(["cargo xtask", "bench", "--list"]).is_ok());
        assert!(Args::try_parse_from(["cargo xtask", "bench", "lifecycle", "--json"]).is_ok());
        assert!(Args::try_parse_from(["cargo xtask", "bench", "--list", "lifecycle"]).is_err());
    }
}
