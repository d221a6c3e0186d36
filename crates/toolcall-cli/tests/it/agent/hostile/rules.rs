//! Cases about rules: who may allow what, and what an invalid rule does.
//! The rules are in files, as users have them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::scripted_session::{
    POLICY, ScriptedSession, TurnOutcome, agent_lines, outcome, outcome_with, turn_of,
};
use crate::agent::cases::YES;
use crate::agent::home::AgentHome;

fn with_policy(policy: &str) -> AgentHome {
    let home = AgentHome::new();
    home.write(POLICY, policy);
    home
}

fn outcome_by(policy: &str, case: &Value) -> TurnOutcome {
    outcome(with_policy(policy), turn_of(case)).0
}

pub(super) fn the_order_of_rules_changes_nothing(case: &Value) {
    let (deny, ask) = ("[[deny]]\nrun = 'rm'\n", "[[ask]]\nrun = '*'\n");
    for policy in [format!("{deny}{ask}"), format!("{ask}{deny}")] {
        assert_eq!(outcome_by(&policy, case), TurnOutcome::Refused);
    }
}

const PROJECT: &str = "project/.toolcall/policy.toml";

pub(super) fn a_project_cannot_allow_itself(case: &Value) {
    let home = AgentHome::new();
    home.write(PROJECT, "[[allow]]\nrun = 'ls'\n");
    assert_eq!(outcome(home, turn_of(case)).0, TurnOutcome::Asked);
}

pub(super) fn trust_ends_with_a_change(case: &Value) {
    let home = AgentHome::new();
    home.write(PROJECT, "[[allow]]\nrun = 'ls'\n");
    let trusted = home.program(&["trust", "--yes"]).output().unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    let (before, home) = outcome(home, turn_of(case));
    assert_eq!(before, TurnOutcome::Ran);
    home.write(PROJECT, "[[allow]]\nrun = ['ls', 'rm']\n");
    assert_eq!(outcome(home, turn_of(case)).0, TurnOutcome::Asked);
}

pub(super) fn a_sandbox_keeps_denials(case: &Value) {
    let home = with_policy("[[deny]]\nrun = 'terraform'\n");
    let (outcome, _) = outcome_with(home, turn_of(case), |agent| {
        agent.arg("--sandbox");
    });
    assert_eq!(outcome, TurnOutcome::Refused);
}

pub(super) fn a_bad_pattern_denies(case: &Value) {
    assert_eq!(
        outcome_by("[[deny]]\nread = '['\n", case),
        TurnOutcome::Refused
    );
}

pub(super) fn a_wrong_example_denies(_: &Value) {
    let policy = "[[allow]]\nrun = 'ls'\nmatches = 'rm x'\n";
    let turn = super::scripted_session::running("ls");
    assert_eq!(outcome(with_policy(policy), turn).0, TurnOutcome::Refused);
}

pub(super) fn a_policy_that_others_may_write_denies(_: &Value) {
    let home = with_policy("[[allow]]\nrun = 'ls'\n");
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(home.path(POLICY), mode).unwrap();
    let turn = super::scripted_session::running("ls");
    assert_eq!(outcome(home, turn).0, TurnOutcome::Refused);
}

pub(super) fn a_command_sees_no_secret(case: &Value) {
    let secrets: Vec<(String, String)> = case["setup"]["env"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| (name.clone(), "hunter22".to_owned()))
        .collect();
    let turns = [turn_of(case)];
    let mut session = ScriptedSession::with(AgentHome::new(), YES, &turns, |agent| {
        agent.envs(secrets.clone());
    });
    session.client.prompt("go");
    let (_, recording) = session.end();
    assert_eq!(
        super::scripted_session::questions(&recording.frames).len(),
        1
    );
    let lines = agent_lines(&recording);
    assert!(lines.contains("PATH="), "the environment is shown: {lines}");
    for (name, secret) in secrets {
        assert!(
            !lines.contains(&secret) && !lines.contains(&name),
            "`{name}` is shown"
        );
    }
}

pub(super) fn another_host_is_not_fetched_silently(case: &Value) {
    assert_ne!(
        outcome_by("[[allow]]\nreach = 'docs.rs'\n", case),
        TurnOutcome::Ran
    );
}
