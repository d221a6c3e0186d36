//! `cargo xtask test`: the steps that must all pass before a change is good.
//! It holds no test itself; without npm and Python the servers, the collector and the SDK of others are left out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::client;
use crate::collector;
use crate::servers;
use crate::step::{Step, cargo, program, run_all};

/// What `cargo xtask test --help` ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask test                       everything, as CI runs it
  cargo xtask test -- fold               of the tests, only those named …fold…
  UPDATE_EXPECT=1 cargo xtask test       rewrite golden files; read the diff before you commit it

The rules of `cargo xtask tidy` run here too, as the test `tree_is_tidy`.";

/// How long an example or the demo may run. They are built in a step of their own.
const RUN_LIMIT: Duration = Duration::from_secs(60);

/// How many random stories of calls are told; a plain `cargo test` tells fewer.
const SCHEDULES: &str = "10000";

/// How many file operations race a mutator; a plain `cargo test` races fewer.
const RACES: &str = "200000";

/// How many times a process that writes history is killed; a plain `cargo test` kills fewer.
const KILLS: &str = "300";

/// Runs all steps; `extra` goes to `cargo test`.
pub(crate) fn run(root: &Path, extra: Vec<OsString>) -> Result<(), String> {
    let strangers = [
        (servers::PLACE, servers::prepare(root)?),
        (collector::PLACE, collector::prepare(root)?),
        (client::PLACE, client::prepare(root)?),
    ];
    let mut steps = vec![tests(root, extra, strangers), programs(root)];
    for package in ["toolcall", "toolcall-acp", "toolcall-tools"] {
        steps.extend(examples(root, package)?);
    }
    steps.push(built(root, "toolcall", &["demo"])?);
    run_all(steps)
}

fn tests(root: &Path, extra: Vec<OsString>, strangers: [(&str, Option<PathBuf>); 3]) -> Step {
    let mut command = cargo(root, ["test", "--workspace", "--all-features"]);
    for (name, place) in strangers {
        command.envs(place.map(|place| (name, place)));
    }
    command
        .args(extra)
        .env("TOOLCALL_SCHEDULES", SCHEDULES)
        .env("TOOLCALL_RACES", RACES)
        .env("TOOLCALL_KILLS", KILLS);
    titled(command)
}

/// Builds what the steps after it run. With examples among them cargo takes the features of tests,
/// so that all of it is there already unless only some tests were asked for.
fn programs(root: &Path) -> Step {
    let args = ["build", "--quiet", "--workspace", "--all-features"];
    let mut command = cargo(root, args);
    command.args(["--bins", "--examples"]);
    titled(command)
}

/// The examples of a crate: one run each, with nothing to read.
fn examples(root: &Path, package: &str) -> Result<Vec<Step>, String> {
    let names = example_names(&root.join("crates").join(package).join("examples"))?;
    let run = |name: &String| built(root, &format!("examples/{name}"), &[]);
    names.iter().map(run).collect()
}

/// Runs a program that was built beside this one.
fn built(root: &Path, name: &str, args: &[&str]) -> Result<Step, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own.with_file_name(program(name)));
    command.current_dir(root).args(args);
    let title = [&[name], args].concat().join(" ");
    Ok(Step::new(title, command).within(RUN_LIMIT))
}

/// The names of the examples in a folder, sorted. A folder that is not there holds none.
fn example_names(folder: &Path) -> Result<Vec<String>, String> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let unreadable = |error| format!("`{}` cannot be read: {error}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.display().to_string()));
        }
    }
    names.sort();
    Ok(names)
}

/// A step titled with what a person would type to run it alone.
fn titled(command: Command) -> Step {
    let args = command.get_args().map(|arg| arg.display().to_string());
    let words: Vec<_> = std::iter::once("cargo".to_owned()).chain(args).collect();
    Step::new(words.join(" "), command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_holds_no_examples() {
        assert_eq!(example_names(Path::new("no/such/folder")), Ok(vec![]));
    }

    #[test]
    fn examples_are_the_rust_files_of_the_folder() {
        let here = crate::root().join("xtask/src");
        let names = example_names(&here).unwrap();
        assert_eq!(
            names,
            [
                "agents",
                "bench",
                "build_report",
                "client",
                "collector",
                "main",
                "pinned",
                "servers",
                "step",
                "suite",
                "tidy",
                "words"
            ]
        );
    }
}
