//! Every tool of well-known MCP servers, called through the engine and over the ACP wire.
//! `cargo xtask test` puts the servers there; without them nothing is tested, which CI takes for a failure.

mod calls;
mod stage;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use calls::{CALLS, Call, Expected};
use stage::Stage;

/// Where the servers are, if they are there.
fn servers() -> Option<PathBuf> {
    let place = std::env::var_os("TOOLCALL_MCP_SERVERS").map(PathBuf::from);
    let is_ci = std::env::var_os("CI").is_some();
    assert!(
        place.is_some() || !is_ci,
        "CI runs `cargo xtask test`, which puts the servers there"
    );
    if place.is_none() {
        eprintln!("skipped: no MCP servers; `cargo xtask test` puts them there");
    }
    place
}

#[tokio::test]
async fn every_tool_of_real_servers_is_called_over_the_wire() {
    let Some(place) = servers() else { return };
    let stage = Stage::open(&place).await;
    let called: BTreeSet<&str> = CALLS.iter().map(|call| call.tool).collect();
    let offered: BTreeSet<String> = stage.tools_of_servers();
    let offered: BTreeSet<&str> = offered.iter().map(String::as_str).collect();
    assert_eq!(called, offered);
    let recorded = stage.play(CALLS).await;
    for (number, call) in CALLS.iter().enumerate() {
        check(call, &recorded.of_call(number + 1), &stage);
    }
    stage.close().await;
}

fn check(call: &Call, updates: &[Value], stage: &Stage) {
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
    let content = stage.steady(&whole("content").unwrap_or_default().to_string());
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

/// A call that would take minutes ends when the person cancels, and the server goes on.
#[tokio::test]
async fn a_call_of_a_real_server_is_cancelled_over_the_wire() {
    let Some(place) = servers() else { return };
    let stage = Stage::open(&place).await;
    let recorded = stage.play(&[calls::ENDLESS]).await;
    let updates = recorded.of_call(1);
    assert_eq!(updates.last().unwrap()["status"], "failed");
    assert_eq!(recorded.stop_reason(), "cancelled");
    let again = stage.play(&[calls::ECHO]).await;
    assert_eq!(again.of_call(1).last().unwrap()["status"], "completed");
    stage.close().await;
}
