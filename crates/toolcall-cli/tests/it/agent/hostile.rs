//! The hostile protocol and permission cases that concern an agent, each run against the real program.
//! A case that cannot be run here is listed with the reason and the test that covers it.

mod answers;
mod history;
mod lines;
mod pressure;
mod rules;
mod scripted_session;
mod sessions;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

const CASES: &str = include_str!("hostile/cases.jsonl");

/// Where a case is tested.
enum Coverage {
    /// Here, against the real program; panics on failure.
    Here(fn(&Value)),
    /// By another test.
    Elsewhere {
        why: &'static str,
        file: &'static str,
        test: &'static str,
    },
}

type HostileCase = (&'static str, Coverage);

const fn here(id: &'static str, show: fn(&Value)) -> HostileCase {
    (id, Coverage::Here(show))
}

const fn elsewhere(
    id: &'static str,
    why: &'static str,
    file: &'static str,
    test: &'static str,
) -> HostileCase {
    (id, Coverage::Elsewhere { why, file, test })
}

const TABLE: &[HostileCase] = &[
    here(
        "permission-003-last-match-trap",
        rules::the_order_of_rules_changes_nothing,
    ),
    here(
        "permission-004-workspace-cannot-grant",
        rules::a_project_cannot_allow_itself,
    ),
    here(
        "permission-005-workspace-changed",
        rules::trust_ends_with_a_change,
    ),
    here(
        "permission-007-headless",
        answers::a_client_without_permission_requests_allows_nothing,
    ),
    here(
        "permission-009-sandbox-keeps-deny",
        rules::a_sandbox_keeps_denials,
    ),
    here("permission-011-bad-regex", rules::a_bad_pattern_denies),
    here(
        "permission-013-rule-selftest",
        rules::a_wrong_example_denies,
    ),
    here(
        "permission-015-policy-perms",
        rules::a_policy_that_others_may_write_denies,
    ),
    here(
        "permission-017-always-banned",
        answers::no_always_for_what_runs_anything,
    ),
    here(
        "permission-018-always-wrapper",
        answers::always_covers_no_other_program,
    ),
    here(
        "permission-021-script-swap",
        answers::a_swapped_script_does_not_run,
    ),
    here(
        "permission-022-unknown-option",
        answers::an_unknown_option_is_no_yes,
    ),
    here(
        "permission-025-double-answer",
        answers::the_first_answer_counts,
    ),
    here("permission-026-answer-error", answers::an_error_is_no_yes),
    here(
        "permission-028-cancel-between-approve-and-exec",
        answers::cancelled_right_after_a_yes,
    ),
    here(
        "permission-030-never-answered",
        answers::an_open_question_blocks_no_other_session,
    ),
    here(
        "permission-039-args-hidden",
        answers::every_argument_is_shown,
    ),
    here(
        "permission-042-model-flag",
        answers::flags_of_the_model_are_refused,
    ),
    here(
        "permission-047-mode-escalate",
        answers::a_model_raises_no_mode,
    ),
    here(
        "permission-048-history-tamper",
        history::an_edited_history_grants_nothing,
    ),
    elsewhere(
        "permission-049-grant-expiry",
        "no answer expires, so there is no clock to set back; answers are remembered until the user forgets them",
        "crates/toolcall-policy/tests/it/store/remembering.rs",
        "remembered_rules_are_read_back",
    ),
    here(
        "permission-050-env-secrets",
        rules::a_command_sees_no_secret,
    ),
    here(
        "permission-052-fetch-userinfo",
        rules::another_host_is_not_fetched_silently,
    ),
    here(
        "permission-053-fetch-query",
        rules::another_host_is_not_fetched_silently,
    ),
    here(
        "permission-054-fetch-nul-host",
        rules::another_host_is_not_fetched_silently,
    ),
    elsewhere(
        "permission-055-fetch-trailing-dot",
        "an allowed call would use the network",
        "crates/toolcall-policy/tests/it/hostile.rs",
        "hostile_cases",
    ),
    here(
        "permission-057-fetch-puny",
        rules::another_host_is_not_fetched_silently,
    ),
    here(
        "permission-060-fetch-ipv6-mapped",
        rules::another_host_is_not_fetched_silently,
    ),
    elsewhere(
        "permission-062-fetch-rebind",
        "it needs a name server whose answers change",
        "crates/toolcall-tools/tests/it/web/fetch.rs",
        "a_name_that_leads_to_a_private_address_is_refused",
    ),
    here(
        "protocol-001-long-line",
        pressure::a_line_without_end_is_bounded,
    ),
    here(
        "protocol-007-lone-surrogate",
        lines::half_a_character_is_an_error,
    ),
    here(
        "protocol-013-id-null",
        lines::a_request_without_an_id_is_refused,
    ),
    here(
        "protocol-014-id-fraction",
        lines::a_fraction_is_refused_or_echoed,
    ),
    here(
        "protocol-015-dup-id",
        lines::an_id_in_flight_is_not_used_twice,
    ),
    here(
        "protocol-017-resp-and-method",
        lines::a_request_that_is_an_answer_is_refused,
    ),
    here(
        "protocol-019-pre-init",
        lines::nothing_is_accepted_before_initialize,
    ),
    here(
        "protocol-021-version-weird",
        lines::a_version_of_the_future_is_answered_with_ours,
    ),
    here("protocol-023-session-id-path", sessions::an_id_is_no_path),
    here(
        "protocol-025-load-wrong-cwd",
        sessions::a_session_stays_in_its_directory,
    ),
    here(
        "protocol-026-toolcall-reuse",
        sessions::ids_of_calls_are_never_used_twice,
    ),
    here(
        "protocol-030-update-after-response",
        sessions::no_update_follows_the_answer,
    ),
    here(
        "protocol-033-cancel-storm",
        sessions::ten_thousand_cancels_are_one,
    ),
    here(
        "protocol-034-cancel-unknown",
        sessions::cancelling_nothing_is_nothing,
    ),
    here(
        "protocol-036-prompt-during-cancel",
        sessions::turns_never_interleave,
    ),
    here(
        "protocol-038-slow-client",
        pressure::a_client_that_does_not_read_is_bounded,
    ),
    here(
        "protocol-039-both-full",
        pressure::both_may_write_before_they_read,
    ),
    here("protocol-042-sigterm", pressure::no_signal_leaves_a_process),
    elsewhere(
        "protocol-044-power-loss",
        "no power can be cut here; processes that write are killed instead",
        "crates/toolcall-history/tests/it/killed.rs",
        "what_was_said_to_be_safe_survives_a_kill",
    ),
    elsewhere(
        "protocol-045-history-full",
        "it needs a disk that is full",
        "crates/toolcall-history/tests/it/failures.rs",
        "on_a_full_disk_calls_are_refused_and_it_is_said",
    ),
    here("protocol-047-sqlite-version", history::sqlite_is_new_enough),
    elsewhere(
        "protocol-050-fd-leak",
        "a day is too long for a test; two hundred sessions are not",
        "crates/toolcall-cli/tests/it/agent/many.rs",
        "two_hundred_sessions_run_calls_at_once",
    ),
];

#[test]
fn hostile_cases_over_the_agent() {
    let cases: Vec<Value> = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: BTreeSet<&str> = cases
        .iter()
        .filter_map(|case| case["id"].as_str())
        .collect();
    let listed: BTreeSet<&str> = TABLE.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        ids, listed,
        "every case is run or listed, and nothing else is"
    );
    assert_eq!(TABLE.len(), listed.len(), "no case is listed twice");
    let case = |id: &str| cases.iter().find(|case| case["id"] == id).unwrap();
    let rows = TABLE
        .iter()
        .filter(|(id, shown)| !passes(id, shown, case(id)));
    let broken: Vec<&str> = rows.map(|(id, _)| *id).collect();
    assert!(broken.is_empty(), "these fail: {broken:?}");
}

/// Runs a case and returns whether it passes. A failure is printed, and the other cases still run.
fn passes(id: &str, shown: &Coverage, case: &Value) -> bool {
    match shown {
        Coverage::Here(show) => {
            println!("{id}");
            std::panic::catch_unwind(|| show(case)).is_ok()
        }
        Coverage::Elsewhere { why, file, test } => {
            println!("{id}: elsewhere, for {why}: {test}");
            has_test(file, test)
        }
    }
}

fn has_test(file: &str, test: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
    text.contains(&format!("fn {test}("))
}
