//! A book follows its files: what somebody else writes holds soon, and waiting questions hear of it.
//! Waits end with the change they wait for.

use std::time::Duration;

use toolcall::{Effect, Lifetime, Rulebook as _};
use toolcall_policy::PolicyStore;

use crate::store::desk::{Desk, name, occasion, rule};

/// Waits until a command is judged like this; the test fails if that never comes.
fn wait_for(desk: &Desk, book: &PolicyStore, text: &str, expected: &str) {
    toolcall_testkit::wait_for(Duration::from_secs(20), || {
        (name(&desk.judge(book, text)) == expected).then_some(())
    });
}

#[test]
fn what_a_person_writes_holds_without_a_restart() {
    let desk = Desk::new();
    let book = desk.book();
    assert_eq!(name(&desk.judge(&book, "make")), "ask");
    desk.write("config/policy.toml", "[[allow]]\nrun = 'make'\n");
    wait_for(&desk, &book, "make", "allow");
    desk.write("config/policy.toml", "[[allow]]\nrun = \n");
    wait_for(&desk, &book, "make", "deny");
    std::fs::remove_file(desk.path().join("config/policy.toml")).unwrap();
    wait_for(&desk, &book, "make", "ask");
}

#[test]
fn trust_and_its_end_hold_without_a_restart() {
    let desk = Desk::new();
    desk.write("proj/.toolcall/policy.toml", "[[allow]]\nrun = 'make'\n");
    let book = desk.book();
    assert_eq!(name(&desk.judge(&book, "make")), "ask");
    desk.trust();
    wait_for(&desk, &book, "make", "allow");
    desk.write("proj/.toolcall/policy.toml", "[[allow]]\nrun = 'mak'\n");
    wait_for(&desk, &book, "make", "ask");
}

#[tokio::test]
async fn whoever_waits_hears_of_what_another_book_keeps() {
    let desk = Desk::new();
    let (waiting, other) = (desk.book(), desk.book());
    let mut changes = waiting.changes();
    let asked = rule(r#"run = "make""#, Lifetime::Everywhere);
    other
        .remember(&asked, Effect::Allow, &occasion("Make"))
        .unwrap();
    changes.changed().await.expect("a change");
    assert_eq!(name(&desk.judge(&waiting, "make")), "allow");
}

#[tokio::test]
async fn one_who_waits_again_after_nobody_did_still_hears() {
    let desk = Desk::new();
    let book = desk.book();
    for round in 0..3 {
        let mut changes = book.changes();
        desk.write(
            "config/policy.toml",
            &format!("[[allow]]\nrun = 'make{round}'\n"),
        );
        changes.changed().await.expect("a change");
        assert_eq!(name(&desk.judge(&book, &format!("make{round}"))), "allow");
    }
}
