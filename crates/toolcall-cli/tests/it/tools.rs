//! Every built-in tool, through success and failure, as a client sees it on the wire of ACP v1.
//! Nothing leaves this machine, and no test waits for a clock.

#![cfg(unix)]

mod rows;
mod stage;
mod story;

use std::collections::BTreeSet;

use rows::{Row, Sort};
use serde_json::json;
use stage::Stage;
use toolcall_acp::lint::lint;

const ALIASES: [(&str, &str); 4] = [
    ("grep", "search_files"),
    ("search_in_files", "search_files"),
    ("terminal", "run_command"),
    ("web_request", "fetch"),
];

#[tokio::test]
async fn every_tool_succeeds_and_fails_on_the_wire() {
    for row in rows::all() {
        let stage = Stage::open().await;
        let played = stage.play(&row).await;
        assert_eq!(lint(played.frames()), [], "{}", row.tool);
        assert_statuses(&row, &played.statuses());
        row.expected.assert_eq(&stage.steady(&played.story()));
    }
}

/// What cannot even be prepared never runs.
fn assert_statuses(row: &Row, statuses: &[String]) {
    let allowed: &[&[&str]] = match row.sort {
        Sort::Success => &[&["pending", "in_progress", "completed"]],
        Sort::Failure => &[
            &["pending", "in_progress", "failed"],
            &["pending", "failed"],
        ],
    };
    let is_allowed = allowed.iter().any(|allowed| *allowed == statuses);
    assert!(is_allowed, "{} {}: {statuses:?}", row.tool, row.input);
}

#[tokio::test]
async fn every_tool_has_a_row_of_each_sort() {
    let stage = Stage::open().await;
    let rows = rows::all();
    let rows: BTreeSet<(&str, Sort)> = rows.iter().map(|row| (row.tool, row.sort)).collect();
    let registry = stage.registry();
    for definition in registry.definitions() {
        for sort in [Sort::Success, Sort::Failure] {
            let is_there = rows.contains(&(&*definition.name, sort));
            assert!(is_there, "`{}` has no row of {sort:?}", definition.name);
        }
    }
    assert_eq!(registry.definitions().count(), 15);
}

#[tokio::test]
async fn every_alias_reaches_its_tool() {
    let registry = Stage::open().await.registry();
    let registered = registry.definitions().flat_map(|definition| {
        let aliases = definition.aliases.iter();
        aliases.map(|alias| (&**alias, &*definition.name))
    });
    assert_eq!(registered.collect::<Vec<_>>(), ALIASES);
    for (alias, tool) in ALIASES {
        let mut rows = rows::all().into_iter();
        let row = rows.find(|row| row.tool == tool && row.sort == Sort::Success);
        let mut row = row.unwrap();
        let by_name = told(&row).await;
        row.tool = alias;
        assert_eq!(told(&row).await, by_name, "{alias}");
    }
}

/// What is told of a row, without what differs from stage to stage.
async fn told(row: &Row) -> String {
    let stage = Stage::open().await;
    stage.steady(&stage.play(row).await.story())
}

/// What does not fit into a call is kept, and read by the address that the call shows: in its own
/// session, and in no other.
#[tokio::test]
async fn long_output_is_read_by_its_address() {
    let stage = Stage::open().await;
    let long = Row::of("run_command", json!({"command": "seq 50000"}));
    let content = stage.play(&long).await.content();
    let mut links = content
        .iter()
        .filter_map(|piece| piece["content"]["uri"].as_str());
    let address = links.next().unwrap();
    let end = json!({"path": address, "line": 49999, "limit": 2});
    let read = Row::of("read_file", end);
    let told = stage.play(&read).await;
    assert_eq!(told.statuses(), ["pending", "in_progress", "completed"]);
    assert_eq!(told.content()[0]["content"]["text"], "49999\n50000\n");
    let told = Stage::open().await.play(&read).await;
    assert_eq!(told.statuses(), ["pending", "failed"]);
    let reason = told.content()[0]["content"]["text"].to_string();
    assert!(
        reason.contains("is outside the folders of this session"),
        "{reason}"
    );
}
