//! Every tool of well-known MCP servers, called through the engine and over the ACP wire.
//! `cargo xtask test` installs the servers; without them nothing is tested, which is a failure in CI.

mod calls;
mod session;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use calls::{CALLS, Expected, McpCall};
use session::McpTestSession;

/// Returns the directory of the installed servers, if there is one.
fn servers() -> Option<PathBuf> {
    let directory = std::env::var_os("TOOLCALL_MCP_SERVERS").map(PathBuf::from);
    let is_ci = std::env::var_os("CI").is_some();
    assert!(
        directory.is_some() || !is_ci,
        "CI runs `cargo xtask test`, which installs the servers"
    );
    if directory.is_none() {
        eprintln!("skipped: no MCP servers; `cargo xtask test` installs them");
    }
    directory
}

#[tokio::test]
async fn every_tool_of_real_servers_is_called_over_the_wire() {
    let Some(directory) = servers() else { return };
    let session = McpTestSession::open(&directory).await;
    let called: BTreeSet<&str> = CALLS.iter().map(|call| call.tool).collect();
    let offered: BTreeSet<String> = session.tools_of_servers();
    let offered: BTreeSet<&str> = offered.iter().map(String::as_str).collect();
    assert_eq!(called, offered);
    let recorded = session.play(CALLS).await;
    for (number, call) in CALLS.iter().enumerate() {
        check(call, &recorded.of_call(number + 1), &session);
    }
    session.close().await;
}

fn check(call: &McpCall, updates: &[Value], session: &McpTestSession) {
    let last = updates
        .last()
        .unwrap_or_else(|| panic!("`{}` is not on the wire", call.tool));
    let whole = |key: &str| {
        updates
            .iter()
            .rev()
            .find_map(|update| update.get(key))
            .cloned()
    };
    let content = session.steady(&whole("content").unwrap_or_default().to_string());
    let (status, expected) = match call.expected {
        Expected::Done(text) => ("completed", text),
        Expected::Failed(text) => ("failed", text),
    };
    assert_eq!(last["status"], status, "`{}`: {content}", call.tool);
    assert!(
        content.contains(expected),
        "`{}` lacks {expected}: {content}",
        call.tool
    );
    if call.tool == "trigger-long-running-operation" {
        let is_progress =
            |update: &Value| update["_meta"]["toolcall/progress"]["fraction"] != json!(null);
        assert!(updates.iter().any(is_progress), "{updates:?}");
    }
}

/// A call that would take minutes ends when the user cancels, and the server goes on.
#[tokio::test]
async fn a_call_of_a_real_server_is_cancelled_over_the_wire() {
    let Some(directory) = servers() else { return };
    let session = McpTestSession::open(&directory).await;
    let recorded = session.play(&[calls::ENDLESS]).await;
    let updates = recorded.of_call(1);
    assert_eq!(updates.last().unwrap()["status"], "failed");
    assert_eq!(recorded.stop_reason(), "cancelled");
    let again = session.play(&[calls::ECHO]).await;
    assert_eq!(again.of_call(1).last().unwrap()["status"], "completed");
    session.close().await;
}
