//! Measurements of toolcall, each against a reference, in interleaved pairs.
//! It states ratios; a time alone says more about the machine than about the code.

use std::process::ExitCode;

use toolcall_tools::command::Supervisor;

#[cfg(target_os = "linux")]
mod agent;
#[cfg(unix)]
mod flood;
mod history;
mod judge;
mod lane;
mod lifecycle;
#[cfg(unix)]
mod mcp;
pub mod pairs;
pub mod row;
#[cfg(unix)]
mod search;
#[cfg(target_os = "linux")]
mod sessions;
#[cfg(target_os = "linux")]
mod start;

pub use pairs::{Case, FEWEST_PAIRS};
pub use row::{Ratio, Row, Target, Unit, as_json, as_table};

/// A benchmark: some cases that belong together, in a file of their own.
pub struct Bench {
    /// What `cargo xtask bench NAME` calls it.
    pub name: &'static str,
    /// One line on what is compared with what.
    pub about: &'static str,
    /// Runs all cases.
    pub run: fn(&Options) -> Vec<Row>,
}

/// How benchmarks are run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How many pairs a case runs; never fewer than [`FEWEST_PAIRS`].
    pub pairs: usize,
}

/// Every benchmark, in the order in which they are listed.
pub const BENCHES: &[Bench] = &[
    Bench {
        name: "lifecycle",
        about: "a whole call that does nothing, against the same closure validated and spawned bare",
        run: lifecycle::run,
    },
    Bench {
        name: "lane",
        about: "reports of calls to another process, against bare serde_json and the SDK's own way",
        run: lane::run,
    },
    #[cfg(unix)]
    Bench {
        name: "flood",
        about: "a command that prints gigabytes, against the same pipeline read bare",
        run: flood::run,
    },
    #[cfg(unix)]
    Bench {
        name: "search",
        about: "search_files, find_path and list_directory on 50,000 files, against ripgrep",
        run: search::run,
    },
    #[cfg(unix)]
    Bench {
        name: "mcp",
        about: "calls of an MCP server's tool through engine and client, against bare rmcp",
        run: mcp::run,
    },
    Bench {
        name: "history",
        about: "events kept, against bare batched inserts; calls with a history, against without; queries as it grows",
        run: history::run,
    },
    Bench {
        name: "judge",
        about: "a verdict on a typical command by many rules, against reading its text",
        run: judge::run,
    },
    #[cfg(target_os = "linux")]
    Bench {
        name: "start",
        about: "from exec to the answer of `initialize` and idle memory, against agents of others",
        run: start::run,
    },
    #[cfg(target_os = "linux")]
    Bench {
        name: "sessions",
        about: "memory of the agent with up to 200 sessions that all run calls, against one",
        run: sessions::run,
    },
];

/// Plays the other process of a benchmark.
pub fn send(sender: &str, supervisor: Supervisor) -> ExitCode {
    match sender {
        "flood" => flood::play(supervisor),
        "mcp" => mcp::play(),
        "search" => search::send(),
        lanes => lane::send(lanes),
    }
}

/// The benchmark of that name, or a message that lists those there are.
pub fn find<'a>(benches: &'a [Bench], name: &str) -> Result<&'a Bench, String> {
    let found = benches.iter().find(|bench| bench.name == name);
    found.ok_or_else(|| format!("no benchmark `{name}`; there are:\n{}", list(benches)))
}

/// The benchmarks, a line each.
pub fn list(benches: &[Bench]) -> String {
    if benches.is_empty() {
        return "  (none yet)".into();
    }
    let width = benches.iter().map(|bench| bench.name.len()).max();
    let width = width.unwrap_or_default();
    let lines = benches
        .iter()
        .map(|Bench { name, about, .. }| format!("  {name:width$}  {about}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [Bench; 2] = [
        Bench {
            name: "fold",
            about: "folding events",
            run: |_| Vec::new(),
        },
        Bench {
            name: "lifecycle",
            about: "one call",
            run: |_| Vec::new(),
        },
    ];

    #[test]
    fn a_benchmark_is_found_by_name() {
        assert_eq!(
            find(&TWO, "fold").map(|bench| bench.about),
            Ok("folding events")
        );
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let why = find(&TWO, "fld").map(|bench| bench.name).unwrap_err();
        let lines = "  fold       folding events\n  lifecycle  one call";
        assert_eq!(why, format!("no benchmark `fld`; there are:\n{lines}"));
        let why = find(&[], "fold").map(|bench| bench.name).unwrap_err();
        assert_eq!(why, "no benchmark `fold`; there are:\n  (none yet)");
    }

    #[test]
    fn no_two_benchmarks_share_a_name() {
        let mut names: Vec<_> = BENCHES.iter().map(|bench| bench.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BENCHES.len());
    }
}
