//! Runs the program with a collector in its environment, and checks what the collector receives.
//! The collector is a local socket; no network is used.

#![cfg(all(unix, feature = "telemetry"))]

use std::net::TcpListener;

use toolcall_testkit::http::{Request, Server, answer};

use crate::home::CliHome;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE: u128 = 0x0af7651916cd43dd8448eb211c80319c;

fn contains(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|there| there == part)
}

async fn check_spans(args: &[&str], spans: &[&str]) {
    let collector = Server::start(|_| answer("200 OK", "connection: close\r\n", "")).await;
    let address = format!("http://{}", collector.address);
    let output = CliHome::new()
        .toolcall(args)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hidden")
        .env("OTEL_SERVICE_NAME", "a-service")
        // Everything at the end, in one request, however slow the machine is.
        .env("OTEL_BSP_SCHEDULE_DELAY", "3600000")
        .env("TRACEPARENT", PARENT)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
    let [Request { head, body }] = &collector.received()[..] else {
        panic!("not one request");
    };
    let head = head.to_lowercase();
    assert!(head.starts_with("post /v1/traces "), "{head}");
    assert!(head.lines().any(|line| line == "x-key: hidden"), "{head}");
    for span in spans
        .iter()
        .copied()
        .chain(["invoke_agent toolcall", "a-service"])
    {
        assert!(contains(body, span.as_bytes()), "{span}");
    }
    assert!(contains(body, &TRACE.to_be_bytes()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_sent() {
    check_spans(
        &["call", "list_directory", "path=."],
        &["execute_tool list_directory", "run"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_over_the_wire_is_sent() {
    check_spans(
        &["call", "--wire", "list_directory", "path=."],
        &["execute_tool list_directory", "run"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_is_sent() {
    check_spans(
        &["demo", "--yes"],
        &["execute_tool count_words", "wait_for_person"],
    )
    .await;
}

#[test]
fn nothing_is_connected_unless_it_is_configured() {
    let home = CliHome::new();
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    collector.set_nonblocking(true).unwrap();
    let address = format!("http://{}", collector.local_addr().unwrap());
    let settings: [&[(&str, &str)]; 3] = [
        &[],
        &[("OTEL_SERVICE_NAME", "a-service"), ("TRACEPARENT", PARENT)],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &address),
            ("OTEL_SDK_DISABLED", "true"),
        ],
    ];
    for variables in settings {
        let mut command = home.toolcall(&["call", "list_directory", "path=."]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0));
        let error = collector.accept().unwrap_err().kind();
        assert_eq!(error, std::io::ErrorKind::WouldBlock, "{variables:?}");
    }
}

#[test]
fn an_unreachable_collector_is_reported_once_and_changes_nothing() {
    let home = CliHome::new();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/traces", gone.local_addr().unwrap());
    drop(gone);
    let mut command = home.toolcall(&["call", "list_directory", "path=."]);
    command.env(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        format!("{address}?key=hidden"),
    );
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let warning = String::from_utf8(output.stderr).unwrap();
    let expected = format!(" spans did not reach `{address}`: the collector cannot be reached: ");
    assert!(
        warning.starts_with("warning: ") && warning.contains(&expected),
        "{warning}"
    );
    assert_eq!(warning.lines().count(), 1, "{warning}");
    assert!(!warning.contains("hidden"), "{warning}");
}

#[test]
fn unusable_settings_are_a_warning() {
    let home = CliHome::new();
    let mut command = home.toolcall(&["call", "list_directory", "path=."]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "warning: no spans are sent: `OTEL_EXPORTER_OTLP_ENDPOINT` is not a URL; write one like `http://localhost:4318`\n"
    );
}
