//! How soon an agent answers `initialize`, and what it takes while idle: ours against agents of others.
//! It sends no prompt; who cannot be started is named and left out.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::agent::{Agent, Memory, toolcall};
use crate::{Case, Options, Row, Target, Unit};

/// Where `cargo xtask bench` says that it put the agents of others.
const AGENTS: &str = "TOOLCALL_ACP_AGENTS";

/// How long after its answer an agent counts as idle.
const SETTLING: Duration = Duration::from_secs(1);

/// At most this part of what the faster of the others takes.
const WANTED: Target = Target::AtMost(1.0 / 20.0);

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let home = home();
    let ours = Contender::ours();
    let warm = ours.measure(&home);
    warm.unwrap_or_else(|why| panic!("`{}` could not be started: {why}", ours.name));
    let others: Vec<_> = Contender::others()
        .into_iter()
        .filter(|other| other.starts(&home))
        .collect();
    let all: Vec<&Contender> = std::iter::once(&ours).chain(&others).collect();
    let rounds = (0..Case::new("", options).rounds()).map(|round| measured(&all, round, &home));
    let rounds: Vec<Vec<Sample>> = rounds.collect();
    rows(&others, &rounds, options)
}

/// An agent that can be started.
struct Contender {
    name: &'static str,
    program: PathBuf,
    args: Vec<PathBuf>,
}

/// What one start took.
#[derive(Clone, Copy)]
struct Sample {
    time: f64,
    memory: Memory,
}

impl Contender {
    fn ours() -> Self {
        Self {
            name: "toolcall agent",
            program: toolcall(),
            args: vec!["agent".into()],
        }
    }

    /// None where nobody put them.
    fn others() -> Vec<Self> {
        let Some(place) = std::env::var_os(AGENTS).map(PathBuf::from) else {
            eprintln!("no agents of others are here; `cargo xtask bench start` puts them there");
            return Vec::new();
        };
        let programs = place.join("node_modules/.bin");
        let other = |name, script: &str, options: &[&str]| Self {
            name,
            program: programs.join("node"),
            args: std::iter::once(programs.join(script))
                .chain(options.iter().map(PathBuf::from))
                .collect(),
        };
        vec![
            other("claude-agent-acp", "claude-agent-acp", &[]),
            other("gemini --acp", "gemini", &["--acp"]),
        ]
    }

    /// Starts it once, which also warms it up; says so where that is not possible.
    fn starts(&self, home: &TempDir) -> bool {
        let tried = self.measure(home);
        if let Err(why) = &tried {
            eprintln!("`{}` could not be started: {why}", self.name);
        }
        tried.is_ok()
    }

    /// From its start to its answer, and what it takes then.
    fn measure(&self, home: &TempDir) -> Result<Sample, String> {
        let command = self.command(home.path());
        let began = Instant::now();
        let mut agent = Agent::start(command)?;
        let greeting = json!({"protocolVersion": 1, "clientCapabilities": {}});
        let answer = agent.ask(0, "initialize", greeting);
        let time = began.elapsed().as_secs_f64() * 1e9;
        std::thread::sleep(SETTLING);
        let memory = agent.memory_of_tree();
        agent.kill();
        answer.map(|_| Sample { time, memory })
    }

    /// It sees an empty home and where programs are, and nothing else.
    fn command(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .env("HOME", home)
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .current_dir(home);
        command
    }
}

/// Below `target`, and gone afterwards.
fn home() -> TempDir {
    let beside = toolcall();
    let folder = beside.parent().expect("a program is in a folder");
    tempfile::tempdir_in(folder).expect("a folder")
}

/// One after the other; another one is first in every round. The samples are in the order of the contenders.
fn measured(all: &[&Contender], round: usize, home: &TempDir) -> Vec<Sample> {
    let mut samples: Vec<Option<Sample>> = vec![None; all.len()];
    for turn in 0..all.len() {
        let index = (round + turn) % all.len();
        let sample = all[index].measure(home);
        let name = all[index].name;
        samples[index] = Some(sample.unwrap_or_else(|why| panic!("`{name}` started once: {why}")));
    }
    samples.into_iter().flatten().collect()
}

fn rows(others: &[Contender], rounds: &[Vec<Sample>], options: &Options) -> Vec<Row> {
    if others.is_empty() {
        let times = rounds.iter().map(|round| round[0].time / 1e6);
        let fastest = times.fold(f64::INFINITY, f64::min);
        eprintln!(
            "`initialize` is answered within {fastest:.2} ms; there is nothing to compare that with"
        );
        return Vec::new();
    }
    let pairs = |of: fn(&Sample) -> f64, index: usize| {
        let pairs = rounds
            .iter()
            .map(|round| (of(&round[0]), of(&round[index])));
        pairs.collect::<Vec<_>>()
    };
    let case = |name: String| Case::new(name, options);
    let named = || others.iter().enumerate();
    let times = named().map(|(index, Contender { name, .. })| {
        let case = case(format!(
            "time to the answer of `initialize`, against {name}"
        ));
        case.of_pairs(Unit::Nanoseconds, &pairs(|sample| sample.time, index + 1))
    });
    let memory = named().flat_map(|(index, Contender { name, .. })| {
        let shared = case(format!("idle memory, PSS of all processes, against {name}"));
        let whole = case(format!("idle memory, RSS of all processes, against {name}"));
        let index = index + 1;
        [
            shared.of_pairs(Unit::Bytes, &pairs(|it| it.memory.proportional, index)),
            whole.of_pairs(Unit::Bytes, &pairs(|it| it.memory.resident, index)),
        ]
    });
    let fastest = case("time to the answer of `initialize`, against the faster of them".into());
    let fastest = fastest
        .target(WANTED)
        .of_pairs(Unit::Nanoseconds, &fastest_pairs(rounds));
    times.chain([fastest]).chain(memory).collect()
}

/// Ours, and whoever else was fastest in the same round.
fn fastest_pairs(rounds: &[Vec<Sample>]) -> Vec<(f64, f64)> {
    let pairs = rounds.iter().map(|round| {
        let others = round[1..].iter().map(|sample| sample.time);
        (round[0].time, others.fold(f64::INFINITY, f64::min))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(times: [f64; 3]) -> Vec<Sample> {
        let memory = Memory::default();
        times.map(|time| Sample { time, memory }).to_vec()
    }

    #[test]
    fn the_fastest_of_the_others_counts_in_every_round() {
        let rounds = [round([1.0, 30.0, 20.0]), round([2.0, 40.0, 60.0])];
        assert_eq!(fastest_pairs(&rounds), [(1.0, 20.0), (2.0, 40.0)]);
    }
}
