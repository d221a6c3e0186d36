//! Servers that are real processes, written in shell: their environment, their descendants, their end.
//! They poll for the end of processes, because nothing else shows it.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use toolcall::{AllowAll, Engine, SharedRegistry, ToolRequest};

use super::super::servers::{ServerEnvironment, Servers};
use super::super::settings::{Program, ServerSettings};
use super::super::status::ServerState;
use super::fake::result_text;

/// A server that evaluates `$2` when it starts and `$1` when its tool `work` is called.
const SERVER: &str = r#"
    answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
    text() { answer "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
    eval "$2"
    while read -r line; do
        id=${line#*\"id\":}; id=${id%%,*}
        case $line in
        *'"server/discover"'*) answer '"error":{"code":-32601,"message":"no"}' ;;
        *'"initialize"'*) answer '"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"0"}}' ;;
        *'"tools/list"'*) answer '"result":{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}' ;;
        *'"tools/call"'*) eval "$1" ;;
        esac
    done
"#;

pub(super) struct ShellServer {
    pub(super) servers: Servers,
    pub(super) engine: Engine,
    directory: TempDir,
}

/// Starts a session whose server evaluates these scripts on a call and at its start.
pub(super) async fn shell(on_call: &str, on_start: &str) -> ShellServer {
    let args = ["-c", SERVER, "server", on_call, on_start];
    let program = Program::new("sh", args, [("TOKEN", "hunter22")]);
    started(ServerSettings::new("sh", program)).await
}

async fn started(settings: ServerSettings) -> ShellServer {
    let directory = TempDir::with_prefix("toolcall-mcp-").unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let env = [
        ("PATH", path),
        ("AGENT_KEY", OsString::from("secret-of-the-agent")),
    ];
    let env = env.map(|(name, value)| (OsString::from(name), value));
    let surroundings = ServerEnvironment::new(vec![directory.path().to_owned()], env);
    let registry = SharedRegistry::new(toolcall::Registry::new());
    let servers = Servers::new(vec![settings], &surroundings, registry.clone()).unwrap();
    servers.start();
    servers.settled().await;
    ShellServer {
        servers,
        engine: Engine::builder(registry).policy(AllowAll).build(),
        directory,
    }
}

impl ShellServer {
    pub(super) async fn result_text(&self) -> String {
        result_text(&self.engine.run(ToolRequest::new("work", json!({}))).await)
    }

    fn failure(&self) -> String {
        match &self.servers.status()[0].state {
            ServerState::Failed { reason } => reason.to_string(),
            other => panic!("the server is {other:?}"),
        }
    }

    /// Whether the process exists whose id the server wrote into this file.
    fn is_alive(&self, file: &str) -> bool {
        let pid =
            std::fs::read_to_string(self.directory.path().join(file)).expect("the server wrote it");
        let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        status.is_ok_and(|status| !status.contains(") Z "))
    }

    fn wait_until_gone(&self, file: &str) {
        let gone = || (!self.is_alive(file)).then_some(());
        toolcall_testkit::wait_for(Duration::from_secs(20), gone);
    }
}

/// Children in the server's process group, and in sessions of their own.
const CHILDREN: &str =
    "sleep 300 & echo $! > child; setsid sleep 301 & echo $! > loner; echo $$ > server";

#[tokio::test]
async fn a_server_gets_its_variables_and_no_keys_of_the_agent() {
    let shell = shell(r#"text "$TOKEN,$AGENT_KEY,$PWD""#, "").await;
    let directory = shell.directory.path().display().to_string();
    assert_eq!(shell.result_text().await, format!("hunter22,,{directory}"));
    let status = format!("{:?}", shell.servers.status());
    assert!(!status.contains("hunter22"), "{status}");
}

#[tokio::test]
async fn a_server_that_dies_tells_why_without_its_secrets() {
    let shell = shell("echo \"out of luck, $TOKEN\" >&2; exit 3", "").await;
    let expected = "failed: the server `sh` is gone: it ended (exit status: 3); the last it said: out of luck, …";
    assert_eq!(shell.result_text().await, expected);
    // The next use starts it again.
    assert_eq!(shell.result_text().await, expected);
}

#[tokio::test]
async fn a_server_that_dies_at_its_start_tells_why() {
    let shell = shell("", "echo missing library >&2; exit 127").await;
    let expected = "it ended (exit status: 127); the last it said: missing library";
    assert_eq!(shell.failure(), expected);
}

#[tokio::test]
async fn a_missing_program_is_reported() {
    let missing = ServerSettings::new("sh", Program::new("no-such-program-anywhere", [], []));
    let shell = started(missing).await;
    let expected = "`no-such-program-anywhere` is not found; install it, or write its whole path";
    assert_eq!(shell.failure(), expected);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_of_a_server_is_left_when_it_is_closed() {
    let shell = shell("text done", CHILDREN).await;
    assert_eq!(shell.result_text().await, "done");
    assert!(
        ["server", "child", "loner"]
            .iter()
            .all(|file| shell.is_alive(file))
    );
    shell.servers.close().await;
    assert!(
        !["server", "child", "loner"]
            .iter()
            .any(|file| shell.is_alive(file))
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_of_a_server_is_left_when_it_crashes() {
    let shell = shell("kill -9 $$", CHILDREN).await;
    let reason = shell.result_text().await;
    assert!(reason.contains("it ended (signal: 9"), "{reason}");
    assert!(
        !["server", "child", "loner"]
            .iter()
            .any(|file| shell.is_alive(file))
    );
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_server_is_left_when_its_session_is_dropped() {
    let mut shell = shell("text done", &format!("trap '' TERM; {CHILDREN}")).await;
    let unused = Servers::new(
        Vec::new(),
        &ServerEnvironment::new(Vec::new(), []),
        toolcall::Registry::new().into(),
    );
    drop(std::mem::replace(&mut shell.servers, unused.unwrap()));
    for file in ["server", "child", "loner"] {
        shell.wait_until_gone(file);
    }
}

#[tokio::test]
async fn a_flood_of_errors_does_not_block_the_server() {
    let shell = shell(
        "head -c 16777216 /dev/zero >&2; echo the end >&2; text done",
        "",
    )
    .await;
    assert_eq!(shell.result_text().await, "done");
    let log = shell.servers.status()[0].log.concat();
    assert!(log.len() < 1024 * 1024, "{}", log.len());
}
