//! What it costs to tell another process of many calls, and how much memory it takes.
//! This process only counts the lines that arrive; each way to send them is a process of its own.

mod floor;
mod ours;
mod sdk;

use std::io::Read as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Case, Options, Row, Target};

const CALLS: u32 = 100_000;
const UPDATES: u32 = 3;
/// What the protocol's own serializer reaches at best; ours may take this much longer.
const OF_THE_FLOOR: f64 = 0.6;
/// How many times faster than the SDK's own way we are with everything in between.
const TIMES_THE_SDK: f64 = 5.0;
const MIB: u64 = 1024 * 1024;

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let case = |name: &str| Case::new(name, options).operations(CALLS * UPDATES);
    let mut rows = vec![
        case("ready events through encoder and lane, against bare serde_json")
            .target(Target::AtMost(1.0 / OF_THE_FLOOR))
            .compare_measured(|| time("ready"), || time("floor")),
        case("calls through registry, engine and journal, against the SDK's stdio agent")
            .target(Target::AtMost(1.0 / TIMES_THE_SDK))
            .compare_measured(|| time("engine"), || time("sdk")),
        case("the same on two threads").compare_measured(|| time("engine-on-two"), || time("sdk")),
    ];
    if cfg!(target_os = "linux") {
        rows.extend(memory(case));
    }
    rows
}

/// Only Linux tells how much memory another process took.
fn memory(case: impl Fn(&str) -> Case) -> [Row; 3] {
    [
        case("memory of the process with ready events, against 16 MiB")
            .within(|| received("ready").memory, 16 * MIB),
        case("memory of the process with the engine, against 16 MiB")
            .within(|| received("engine").memory, 16 * MIB),
        case("the same with a client that stops reading, against 32 MiB")
            .within(|| stalled("engine"), 32 * MIB),
    ]
}

/// Plays the sender of this name.
pub(crate) fn send(sender: &str) -> ExitCode {
    match sender {
        "floor" => floor::send(),
        "ready" => ours::send_ready(),
        "engine" => ours::send_on_one_thread(),
        "engine-on-two" => ours::send_on_two_threads(),
        "sdk" => sdk::send(),
        other => {
            eprintln!("there is no sender `{other}`");
            return ExitCode::from(2);
        }
    }
    eprintln!("{}", peak_memory("self"));
    ExitCode::SUCCESS
}

/// What came from a sender.
struct Received {
    time: Duration,
    memory: u64,
}

fn time(sender: &str) -> Duration {
    received(sender).time
}

/// Receives everything, as fast as it comes. The time counts from the first bytes.
fn received(sender: &str) -> Received {
    let mut child = start(sender);
    let mut pipe = child.stdout.take().expect("its output is piped");
    let (mut buffer, mut missing) = (vec![0; 64 * 1024], (CALLS * UPDATES) as usize);
    let mut began = None;
    while missing > 0 {
        let read = pipe.read(&mut buffer).expect("a pipe can be read");
        assert!(read > 0, "`{sender}` left out {missing} lines");
        began.get_or_insert_with(Instant::now);
        let lines = buffer[..read].iter().filter(|byte| **byte == b'\n').count();
        missing = missing.checked_sub(lines).expect("no line comes twice");
    }
    let time = began.map_or(Duration::ZERO, |began| began.elapsed());
    // The SDK's agent goes on until its input ends.
    drop(child.stdin.take());
    let said = child.wait_with_output().expect("it ends").stderr;
    let said = String::from_utf8_lossy(&said);
    let memory = said
        .trim()
        .parse()
        .expect("it says how much memory it took");
    Received { time, memory }
}

/// How much memory a sender takes whose output nobody reads, once it takes no more.
fn stalled(sender: &str) -> u64 {
    let mut child = start(sender);
    let id = child.id().to_string();
    let (mut memory, mut quiet) = (0, 0);
    while quiet < 4 {
        sleep(Duration::from_millis(500));
        let before = std::mem::replace(&mut memory, peak_memory(&id));
        quiet = if memory == before { quiet + 1 } else { 0 };
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    memory
}

fn start(sender: &str) -> Child {
    let program = std::env::current_exe().expect("this program has a path");
    Command::new(program)
        .args(["--sender", sender])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this program can start itself")
}

/// The most memory a process ever had, in bytes; 0 where the system does not tell.
pub(crate) fn peak_memory(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}
