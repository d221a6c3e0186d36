//! A store follows its files: changes by others soon hold, and waiting questions learn of them.
//! Each wait ends with the change that it waits for.

use std::time::Duration;

use toolcall::{Effect, Lifetime, Rulebook as _};
use toolcall_policy::PolicyStore;

use crate::store::fixture::{Fixture, name, occasion, rule};

/// Waits until a command gets the expected verdict; fails if that never happens.
fn wait_for(fixture: &Fixture, store: &PolicyStore, text: &str, expected: &str) {
    toolcall_testkit::wait_for(Duration::from_secs(20), || {
        (name(&fixture.judge(store, text)) == expected).then_some(())
    });
}

#[test]
fn what_the_user_writes_holds_without_a_restart() {
    let fixture = Fixture::new();
    let store = fixture.store();
    assert_eq!(name(&fixture.judge(&store, "make")), "ask");
    fixture.write("config/policy.toml", "[[allow]]\nrun = 'make'\n");
    wait_for(&fixture, &store, "make", "allow");
    fixture.write("config/policy.toml", "[[allow]]\nrun = \n");
    wait_for(&fixture, &store, "make", "deny");
    std::fs::remove_file(fixture.path().join("config/policy.toml")).unwrap();
    wait_for(&fixture, &store, "make", "ask");
}

#[test]
fn trust_and_its_end_hold_without_a_restart() {
    let fixture = Fixture::new();
    fixture.write("proj/.toolcall/policy.toml", "[[allow]]\nrun = 'make'\n");
    let store = fixture.store();
    assert_eq!(name(&fixture.judge(&store, "make")), "ask");
    fixture.trust();
    wait_for(&fixture, &store, "make", "allow");
    fixture.write("proj/.toolcall/policy.toml", "[[allow]]\nrun = 'mak'\n");
    wait_for(&fixture, &store, "make", "ask");
}

#[tokio::test]
async fn a_waiting_question_learns_of_a_rule_that_another_store_remembers() {
    let fixture = Fixture::new();
    let (waiting, other) = (fixture.store(), fixture.store());
    let mut changes = waiting.changes();
    let asked = rule(r#"run = "make""#, Lifetime::Everywhere);
    other
        .remember(&asked, Effect::Allow, &occasion("Make"))
        .unwrap();
    changes.changed().await.expect("a change");
    assert_eq!(name(&fixture.judge(&waiting, "make")), "allow");
}

#[tokio::test]
async fn a_question_that_waits_after_a_pause_still_learns_of_changes() {
    let fixture = Fixture::new();
    let store = fixture.store();
    for round in 0..3 {
        let mut changes = store.changes();
        fixture.write(
            "config/policy.toml",
            &format!("[[allow]]\nrun = 'make{round}'\n"),
        );
        changes.changed().await.expect("a change");
        assert_eq!(
            name(&fixture.judge(&store, &format!("make{round}"))),
            "allow"
        );
    }
}
