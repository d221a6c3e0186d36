//! Every built-in tool, with success and failure, as a client sees it over ACP v1.
//! No network is used, and no test sleeps.

#![cfg(unix)]

mod cases;
mod project;
mod transcript;

use std::collections::BTreeSet;

use cases::{CallCase, ExpectedEnding};
use project::ToolTestProject;
use serde_json::json;
use toolcall_acp::lint::lint;

const ALIASES: [(&str, &str); 4] = [
    ("grep", "search_files"),
    ("search_in_files", "search_files"),
    ("terminal", "run_command"),
    ("web_request", "fetch"),
];

#[tokio::test]
async fn every_tool_succeeds_and_fails_on_the_wire() {
    for case in cases::all() {
        let project = ToolTestProject::open().await;
        let played = project.play(&case).await;
        assert_eq!(lint(played.frames()), [], "{}", case.tool);
        assert_statuses(&case, &played.statuses());
        case.expected
            .assert_eq(&project.steady(&played.transcript()));
    }
}

/// Checks the statuses; a call that cannot be prepared never runs.
fn assert_statuses(case: &CallCase, statuses: &[String]) {
    let allowed: &[&[&str]] = match case.outcome {
        ExpectedEnding::Success => &[&["pending", "in_progress", "completed"]],
        ExpectedEnding::Failure => &[
            &["pending", "in_progress", "failed"],
            &["pending", "failed"],
        ],
    };
    let is_allowed = allowed.iter().any(|allowed| *allowed == statuses);
    assert!(is_allowed, "{} {}: {statuses:?}", case.tool, case.input);
}

#[tokio::test]
async fn every_tool_has_a_case_of_each_outcome() {
    let project = ToolTestProject::open().await;
    let cases = cases::all();
    let cases: BTreeSet<(&str, ExpectedEnding)> =
        cases.iter().map(|case| (case.tool, case.outcome)).collect();
    let registry = project.registry();
    for definition in registry.definitions() {
        for outcome in [ExpectedEnding::Success, ExpectedEnding::Failure] {
            let is_there = cases.contains(&(&*definition.name, outcome));
            assert!(is_there, "`{}` has no case of {outcome:?}", definition.name);
        }
    }
    assert_eq!(registry.definitions().count(), 15);
}

#[tokio::test]
async fn every_alias_reaches_its_tool() {
    let registry = ToolTestProject::open().await.registry();
    let registered = registry.definitions().flat_map(|definition| {
        let aliases = definition.aliases.iter();
        aliases.map(|alias| (&**alias, &*definition.name))
    });
    assert_eq!(registered.collect::<Vec<_>>(), ALIASES);
    for (alias, tool) in ALIASES {
        let mut cases = cases::all().into_iter();
        let case = cases.find(|case| case.tool == tool && case.outcome == ExpectedEnding::Success);
        let mut case = case.unwrap();
        let by_name = transcript(&case).await;
        case.tool = alias;
        assert_eq!(transcript(&case).await, by_name, "{alias}");
    }
}

/// Returns the transcript of a case, without what differs between runs.
async fn transcript(case: &CallCase) -> String {
    let project = ToolTestProject::open().await;
    project.steady(&project.play(case).await.transcript())
}

/// Output that does not fit into a call is stored. Its address works in the same session, and in no
/// other.
#[tokio::test]
async fn long_output_is_read_by_its_address() {
    let project = ToolTestProject::open().await;
    let long = CallCase::of("run_command", json!({"command": "seq 50000"}));
    let content = project.play(&long).await.content();
    let mut links = content
        .iter()
        .filter_map(|piece| piece["content"]["uri"].as_str());
    let address = links.next().unwrap();
    let end = json!({"path": address, "line": 49999, "limit": 2});
    let read = CallCase::of("read_file", end);
    let played = project.play(&read).await;
    assert_eq!(played.statuses(), ["pending", "in_progress", "completed"]);
    assert_eq!(played.content()[0]["content"]["text"], "49999\n50000\n");
    let played = ToolTestProject::open().await.play(&read).await;
    assert_eq!(played.statuses(), ["pending", "failed"]);
    let reason = played.content()[0]["content"]["text"].to_string();
    assert!(
        reason.contains("is outside the folders of this session"),
        "{reason}"
    );
}
