//! Runs the program with a collector in its environment, and looks at what that collector gets.
//! The collector is a socket on this machine; no network is reached.

#![cfg(all(unix, feature = "telemetry"))]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;

const ABOVE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE: u128 = 0x0af7651916cd43dd8448eb211c80319c;

/// Takes one request, with its head and its body, and says that all is well.
fn take(mut stream: TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let (_, length) = head.split_once("content-length: ").unwrap();
    let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer.as_bytes()).unwrap();
    (head, body)
}

/// The program, in a home and a project of its own.
fn toolcall(home: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolcall"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir(home.path());
    command
}

fn contains(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|there| there == part)
}

fn check_that_it_is_told(args: &[&str], spans: &[&str]) {
    let home = TempDir::new().unwrap();
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", collector.local_addr().unwrap());
    let taking = thread::spawn(move || take(collector.accept().unwrap().0));
    let output = toolcall(&home, args)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hidden")
        .env("OTEL_SERVICE_NAME", "a-service")
        // Everything at the end, in one request, however slow the machine is.
        .env("OTEL_BSP_SCHEDULE_DELAY", "3600000")
        .env("TRACEPARENT", ABOVE)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
    let (head, body) = taking.join().unwrap();
    assert!(head.starts_with("post /v1/traces "), "{head}");
    assert!(head.contains("x-key: hidden\r\n"), "{head}");
    for span in spans
        .iter()
        .copied()
        .chain(["invoke_agent toolcall", "a-service"])
    {
        assert!(contains(&body, span.as_bytes()), "{span}");
    }
    assert!(contains(&body, &TRACE.to_be_bytes()));
}

#[test]
fn a_call_is_told() {
    check_that_it_is_told(
        &["call", "list_directory", "path=."],
        &["execute_tool list_directory", "run"],
    );
}

#[test]
fn a_call_over_the_wire_is_told() {
    check_that_it_is_told(
        &["call", "--wire", "list_directory", "path=."],
        &["execute_tool list_directory", "run"],
    );
}

#[test]
fn the_demo_is_told() {
    check_that_it_is_told(
        &["demo", "--yes"],
        &["execute_tool count_words", "wait_for_person"],
    );
}

#[test]
fn nothing_is_connected_unless_it_is_configured() {
    let home = TempDir::new().unwrap();
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    collector.set_nonblocking(true).unwrap();
    let address = format!("http://{}", collector.local_addr().unwrap());
    let settings: [&[(&str, &str)]; 3] = [
        &[],
        &[("OTEL_SERVICE_NAME", "a-service"), ("TRACEPARENT", ABOVE)],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &address),
            ("OTEL_SDK_DISABLED", "true"),
        ],
    ];
    for variables in settings {
        let mut command = toolcall(&home, &["call", "list_directory", "path=."]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0));
        let nobody = collector.accept().unwrap_err().kind();
        assert_eq!(nobody, std::io::ErrorKind::WouldBlock, "{variables:?}");
    }
}

#[test]
fn a_collector_that_is_gone_is_told_once_and_changes_nothing() {
    let home = TempDir::new().unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/traces", gone.local_addr().unwrap());
    drop(gone);
    let mut command = toolcall(&home, &["call", "list_directory", "path=."]);
    command.env(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        format!("{address}?key=hidden"),
    );
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = format!(" spans did not reach `{address}`: the collector cannot be reached: ");
    assert!(
        said.starts_with("warning: ") && said.contains(&expected),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!said.contains("hidden"), "{said}");
}

#[test]
fn settings_that_cannot_be_used_are_a_warning() {
    let home = TempDir::new().unwrap();
    let mut command = toolcall(&home, &["call", "list_directory", "path=."]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "warning: no spans are sent: `OTEL_EXPORTER_OTLP_ENDPOINT` is no address; write one like `http://localhost:4318`\n"
    );
}
