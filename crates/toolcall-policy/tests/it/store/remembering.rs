//! Remembered answers: for a session, a project, everywhere.
//! Their files say when and for which call, and are read back as written.

use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use proptest::prelude::*;
use toolcall::{Effect, Lifetime, Rulebook as _};
use toolcall_policy::{PolicyStore, RememberedRuleId};

use crate::store::fixture::{Fixture, name, occasion, rule};

fn remember(store: &PolicyStore, text: &str, lifetime: Lifetime, effect: Effect) {
    let remembered = store.remember(&rule(text, lifetime), effect, &occasion("Run it"));
    assert_eq!(remembered, Ok(()), "{text}");
}

#[test]
fn a_remembered_answer_holds_at_once_and_after_a_restart() {
    let fixture = Fixture::new();
    let store = fixture.store();
    remember(
        &store,
        r#"run = "cargo test""#,
        Lifetime::Project,
        Effect::Allow,
    );
    assert_eq!(name(&fixture.judge(&store, "cargo test -q")), "allow");
    assert_eq!(fixture.says("cargo test -q"), "allow");
    assert_eq!(fixture.says("cargo build"), "ask");
}

#[test]
fn an_answer_for_the_session_ends_with_it() {
    let fixture = Fixture::new();
    let store = fixture.store();
    remember(
        &store,
        r#"run = "cargo test""#,
        Lifetime::Session,
        Effect::Allow,
    );
    assert_eq!(name(&fixture.judge(&store, "cargo test")), "allow");
    assert_eq!(fixture.says("cargo test"), "ask");
}

#[test]
fn an_answer_for_a_project_does_not_hold_in_another() {
    let fixture = Fixture::new();
    let store = fixture.store();
    remember(
        &store,
        r#"run = "cargo test""#,
        Lifetime::Project,
        Effect::Allow,
    );
    remember(
        &store,
        r#"run = "cargo fmt""#,
        Lifetime::Everywhere,
        Effect::Allow,
    );
    let mut config = fixture.config();
    config.roots = vec![fixture.path().join("other")];
    let other = PolicyStore::open(config);
    let verdict = |text: &str| {
        use toolcall::{Policy as _, SessionContext, SessionId};
        let mut intent = fixture.runs(text);
        intent.touches.clear();
        let cwd = fixture.path().join("other");
        let reading = toolcall_shell::read(text, &cwd);
        let intent = intent.running(toolcall::Command::new(text, &cwd, reading));
        name(
            &other
                .rules()
                .judge(&intent, &SessionContext::new(SessionId::new("s"), cwd)),
        )
    };
    assert_eq!(verdict("cargo test"), "ask");
    assert_eq!(verdict("cargo fmt"), "allow");
}

#[test]
fn a_remembered_no_wins_over_a_remembered_yes() {
    let fixture = Fixture::new();
    let store = fixture.store();
    remember(
        &store,
        r#"run = "make""#,
        Lifetime::Everywhere,
        Effect::Allow,
    );
    remember(&store, r#"run = "make""#, Lifetime::Session, Effect::Deny);
    assert_eq!(name(&fixture.judge(&store, "make")), "deny");
}

#[test]
fn the_file_says_when_and_for_which_call() {
    let fixture = Fixture::new();
    let store = fixture.store();
    let asked = rule(r#"exactly = "mv a b", in = "/w""#, Lifetime::Everywhere);
    let title = "Run `mv a b`\n[[allow]] run = '*' \u{202e}";
    assert_eq!(
        store.remember(&asked, Effect::Allow, &occasion(title)),
        Ok(())
    );
    remember(
        &store,
        r#"run = "git push""#,
        Lifetime::Everywhere,
        Effect::Deny,
    );
    expect![[r##"
        # Answers that were kept and hold everywhere.
        # `toolcall policy list` shows them, `toolcall policy forget ID` takes one out.

        # Kept 2026-09-21T14:13:20Z, for "Run `mv a b` [[allow]] run = '*' \u{202e}" (call call-7 of session s1)
        [[allow]]
        exactly = "mv a b"
        in = "/w"

        # Kept 2026-09-21T14:13:20Z, for "Run it" (call call-7 of session s1)
        [[deny]]
        run = "git push"
    "##]]
    .assert_eq(&fixture.remembered_text());
}

#[test]
fn no_other_user_may_read_or_write_remembered_rules() {
    let fixture = Fixture::new();
    remember(
        &fixture.store(),
        r#"run = "make""#,
        Lifetime::Everywhere,
        Effect::Allow,
    );
    let rights = |path: &str| {
        let metadata = fixture.path().join(path).metadata().unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(rights("state/kept"), 0o700);
    assert_eq!(rights("state/kept/everywhere.toml"), 0o600);
}

#[test]
fn the_same_answer_is_remembered_once() {
    let fixture = Fixture::new();
    let store = fixture.store();
    for _ in 0..3 {
        remember(
            &store,
            r#"run = "make""#,
            Lifetime::Everywhere,
            Effect::Allow,
        );
    }
    assert_eq!(store.kept().unwrap().len(), 1);
}

#[test]
fn a_forgotten_answer_goes_with_its_comment_and_the_others_stay() {
    let fixture = Fixture::new();
    let store = fixture.store();
    for text in [
        r#"run = "make""#,
        r#"run = "ninja""#,
        r#"write = ["./a", "b [c]"]"#,
    ] {
        remember(&store, text, Lifetime::Everywhere, Effect::Allow);
    }
    let remembered = store.kept().unwrap();
    let texts: Vec<_> = remembered.iter().map(|rule| rule.text.as_str()).collect();
    let written = [
        r#"run = "make""#,
        r#"run = "ninja""#,
        r#"write = ["./a", "b [c]"]"#,
    ];
    assert_eq!(texts, written);
    assert!(
        remembered[1]
            .comment
            .starts_with("Kept 2026-09-21T14:13:20Z, for \"Run it\"")
    );
    let gone = store.forget(&[remembered[1].id.clone()]).unwrap();
    assert_eq!(gone, [remembered[1].clone()]);
    assert_eq!(
        store.forget(&[remembered[0].id.clone()]).unwrap(),
        [remembered[0].clone()]
    );
    remember(
        &store,
        r#"run = "make""#,
        Lifetime::Everywhere,
        Effect::Allow,
    );
    assert!(
        fixture
            .remembered_text()
            .starts_with("# Answers that were kept and hold everywhere.\n")
    );
    assert_eq!(name(&fixture.judge(&store, "ninja")), "ask");
    assert_eq!(name(&fixture.judge(&store, "make")), "allow");
    assert_eq!(fixture.remembered_text().matches("# Kept").count(), 2);
    assert_eq!(
        store.forget(&[RememberedRuleId::new("nothing")]),
        Ok(Vec::new())
    );
    let all: Vec<_> = store
        .kept()
        .unwrap()
        .into_iter()
        .map(|rule| rule.id)
        .collect();
    assert_eq!(store.forget(&all).unwrap().len(), 2);
    assert_eq!(store.kept(), Ok(Vec::new()));
}

#[test]
fn a_broken_file_of_answers_is_left_alone_and_denies() {
    let fixture = Fixture::new();
    let store = fixture.store();
    let path = fixture.write("state/kept/everywhere.toml", "[[allow]]\nrun = []\n");
    let refused = store.remember(
        &rule(r#"run = "make""#, Lifetime::Everywhere),
        Effect::Allow,
        &occasion("Run it"),
    );
    let why = refused.unwrap_err().reason.to_string();
    assert!(
        why.contains("everywhere.toml:2:7: an empty list matches nothing"),
        "{why}"
    );
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        "[[allow]]\nrun = []\n"
    );
    assert_eq!(fixture.says("ls"), "deny");
}

#[test]
fn a_rule_that_no_file_could_hold_is_not_remembered() {
    let fixture = Fixture::new();
    let store = fixture.store();
    let odd = rule("any call of \"x\"", Lifetime::Session);
    assert!(
        store
            .remember(&odd, Effect::Allow, &occasion("odd"))
            .is_err()
    );
    assert_eq!(store.problem(), None);
}

#[test]
fn where_nothing_can_be_written_the_answer_is_not_remembered_and_says_so() {
    let fixture = Fixture::new();
    fixture.write("state", "a file where the directory should be");
    let asked = rule(r#"run = "make""#, Lifetime::Everywhere);
    let refused = fixture
        .store()
        .remember(&asked, Effect::Allow, &occasion("Run it"));
    let why = refused.unwrap_err().reason.to_string();
    assert!(why.contains("it cannot be written"), "{why}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rules with any words and paths, for a call with any title, are read back from the file as they were
    /// written.
    #[test]
    fn remembered_rules_are_read_back(
        commands in prop::collection::vec("[a-z][ -~é\u{202e}]{0,20}", 1..5),
        title in any::<String>(),
    ) {
        let fixture = Fixture::new();
        let store = fixture.store();
        let mut texts = Vec::new();
        for command in &commands {
            let text = toolcall_policy::PolicyRule::from_text(
                &format!("exactly = {}", serde_json::Value::from(command.as_str())),
                toolcall_policy::RuleEffect::Allow,
                None,
            );
            let Ok(read) = text else { continue };
            let asked = rule(&read.text(), Lifetime::Everywhere);
            prop_assert_eq!(store.remember(&asked, Effect::Allow, &occasion(&title)), Ok(()));
            if !texts.contains(&read.text()) {
                texts.push(read.text());
            }
        }
        let remembered = store.kept().unwrap();
        let read_back: Vec<_> = remembered.iter().map(|remembered| remembered.text.clone()).collect();
        prop_assert_eq!(read_back, texts);
        prop_assert_eq!(fixture.store().problem(), None);
    }
}
