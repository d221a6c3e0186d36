//! A third-party collector receives the spans and prints what it understood.
//! `cargo xtask test` installs it; without it the test is skipped.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use toolcall::{Clock as _, SessionId};
use toolcall_telemetry::{Settings, Telemetry, TraceParent, TurnStart};

use crate::setup::{LONG, clock, engine, run};

/// Returns the path of the collector, if it is installed.
fn collector() -> Option<PathBuf> {
    let place = std::env::var_os("TOOLCALL_COLLECTOR").map(PathBuf::from);
    let is_ci = std::env::var_os("CI").is_some();
    assert!(
        place.is_some() || !is_ci,
        "CI runs `cargo xtask test`, which puts a collector there"
    );
    if place.is_none() {
        eprintln!("skipped: no collector; `cargo xtask test` puts one there");
    }
    place
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts the collector and waits until it accepts connections: it does not report that.
async fn start(program: &Path, port: u16, place: &TempDir) -> Child {
    let child = Command::new(program)
        .args(["start", "--exporter", "blackhole"])
        .args(["--debug-log", "traces"])
        .args(["--debug-log-verbosity", "detailed"])
        .args(["--otlp-http-endpoint", &format!("127.0.0.1:{port}")])
        .args([
            "--otlp-grpc-endpoint",
            &format!("127.0.0.1:{}", free_port()),
        ])
        .arg("--pid-file")
        .arg(place.path().join("pid"))
        .arg("--log-file")
        .arg(place.path().join("log"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let reached = async {
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .is_err()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, reached).await.unwrap();
    child
}

/// Reads its output until all expected texts have appeared.
async fn wait_for_output(child: &mut Child, expected: &[&str]) {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut missing = expected.to_vec();
    while !missing.is_empty() {
        let line = tokio::time::timeout(LONG, lines.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("not printed: {missing:?}"));
        let line = line.unwrap().expect("it goes on");
        missing.retain(|text| !line.contains(text));
    }
}

#[tokio::test]
async fn a_collector_of_others_understands_the_spans_of_a_turn() {
    let Some(program) = collector() else { return };
    let (port, place) = (free_port(), TempDir::new().unwrap());
    let mut child = start(&program, port, &place).await;
    let settings = Settings::new(&format!("http://127.0.0.1:{port}/v1/traces")).unwrap();
    let telemetry = Telemetry::start(settings).unwrap();
    let clock = clock();
    let engine = engine(&telemetry, &clock);
    let above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let turn = TurnStart::new(SessionId::new("session")).agent("toolcall");
    let parent = TraceParent::parse(above).unwrap();
    let span = telemetry.turn(turn.parent(parent), clock.now());
    for tool in ["ask_first", "fail"] {
        run(&engine, tool).await;
    }
    span.end(clock.now());
    let stats = telemetry.close(LONG).await;
    assert_eq!((stats.sent, stats.dropped), (8, 0), "{:?}", stats.why);
    let expected = [
        "0af7651916cd43dd8448eb211c80319c",
        "b7ad6b7169203331",
        "invoke_agent toolcall",
        "execute_tool ask_first",
        "execute_tool fail",
        "wait_for_person",
        "gen_ai.tool.name",
        "toolcall.decision.by",
    ];
    wait_for_output(&mut child, &expected).await;
}
