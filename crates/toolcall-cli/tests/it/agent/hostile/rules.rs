//! Cases that rules settle: who may allow what, and what a rule that is broken does.
//! Each is played with the rules in files, as people have them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::scene::{Fate, POLICY, Scene, fate, fate_with, said, turn_of};
use crate::agent::cases::YES;
use crate::agent::stage::Stage;

fn with_policy(policy: &str) -> Stage {
    let stage = Stage::new();
    stage.write(POLICY, policy);
    stage
}

fn fate_by(policy: &str, case: &Value) -> Fate {
    fate(with_policy(policy), turn_of(case)).0
}

pub(super) fn the_order_of_rules_changes_nothing(case: &Value) {
    let (deny, ask) = ("[[deny]]\nrun = 'rm'\n", "[[ask]]\nrun = '*'\n");
    for policy in [format!("{deny}{ask}"), format!("{ask}{deny}")] {
        assert_eq!(fate_by(&policy, case), Fate::Refused);
    }
}

const PROJECT: &str = "project/.toolcall/policy.toml";

pub(super) fn a_project_cannot_allow_itself(case: &Value) {
    let stage = Stage::new();
    stage.write(PROJECT, "[[allow]]\nrun = 'ls'\n");
    assert_eq!(fate(stage, turn_of(case)).0, Fate::Asked);
}

pub(super) fn trust_ends_with_a_change(case: &Value) {
    let stage = Stage::new();
    stage.write(PROJECT, "[[allow]]\nrun = 'ls'\n");
    let trusted = stage.program(&["trust", "--yes"]).output().unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    let (before, stage) = fate(stage, turn_of(case));
    assert_eq!(before, Fate::Ran);
    stage.write(PROJECT, "[[allow]]\nrun = ['ls', 'rm']\n");
    assert_eq!(fate(stage, turn_of(case)).0, Fate::Asked);
}

pub(super) fn a_sandbox_keeps_denials(case: &Value) {
    let stage = with_policy("[[deny]]\nrun = 'terraform'\n");
    let (fate, _) = fate_with(stage, turn_of(case), |agent| {
        agent.arg("--sandbox");
    });
    assert_eq!(fate, Fate::Refused);
}

pub(super) fn a_bad_pattern_denies(case: &Value) {
    assert_eq!(fate_by("[[deny]]\nread = '['\n", case), Fate::Refused);
}

pub(super) fn a_wrong_example_denies(_: &Value) {
    let policy = "[[allow]]\nrun = 'ls'\nmatches = 'rm x'\n";
    let turn = super::scene::running("ls");
    assert_eq!(fate(with_policy(policy), turn).0, Fate::Refused);
}

pub(super) fn a_policy_that_others_may_write_denies(_: &Value) {
    let stage = with_policy("[[allow]]\nrun = 'ls'\n");
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(stage.path(POLICY), mode).unwrap();
    let turn = super::scene::running("ls");
    assert_eq!(fate(stage, turn).0, Fate::Refused);
}

pub(super) fn a_command_sees_no_secret(case: &Value) {
    let secrets: Vec<(String, String)> = case["setup"]["env"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| (name.clone(), "hunter22".to_owned()))
        .collect();
    let turns = [turn_of(case)];
    let mut scene = Scene::with(Stage::new(), YES, &turns, |agent| {
        agent.envs(secrets.clone());
    });
    scene.client.prompt("go");
    let (_, recording) = scene.end();
    assert_eq!(super::scene::questions(&recording.frames).len(), 1);
    let said = said(&recording);
    assert!(said.contains("PATH="), "the environment is shown: {said}");
    for (name, secret) in secrets {
        assert!(
            !said.contains(&secret) && !said.contains(&name),
            "`{name}` is shown"
        );
    }
}

pub(super) fn another_host_is_not_fetched_silently(case: &Value) {
    assert_ne!(fate_by("[[allow]]\nreach = 'docs.rs'\n", case), Fate::Ran);
}
