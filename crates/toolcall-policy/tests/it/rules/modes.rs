//! The effect of each mode on each kind of touch, with and without rules.
//! Deny rules, ask rules and protected paths hold in all modes.

use std::fmt::Write;

use expect_test::{Expect, expect};
use toolcall::{Intent, Kind, Touch};
use toolcall_policy::{Layer, LayerSource, Mode, RuleContext, Rules, Trust};

use crate::rules::fixture::{command, in_root, judged, parse, rules, switching, touching, user};

fn check(text: &str, intents: &[(&str, Intent)], expect: Expect) {
    let rules = rules(text);
    let mut all = String::new();
    for (name, intent) in intents {
        let row = Mode::ALL.map(|mode| judged(&rules.in_mode(mode), intent).as_str());
        writeln!(
            all,
            "{name:24} {}",
            row.map(|effect| format!("{effect:6}")).concat().trim_end()
        )
        .unwrap();
    }
    expect.assert_eq(&all);
}

fn touches() -> Vec<(&'static str, Intent)> {
    vec![
        ("nothing", Intent::new(Kind::Think, "thinks")),
        ("read inside", touching(Touch::Reads(in_root("src/a.rs")))),
        ("read outside", touching(Touch::Reads("/etc/passwd".into()))),
        ("write inside", touching(Touch::Writes(in_root("src/a.rs")))),
        (
            "write outside",
            touching(Touch::Writes("/etc/passwd".into())),
        ),
        ("delete", touching(Touch::Deletes(in_root("src/a.rs")))),
        (
            "move",
            touching(Touch::Moves {
                from: in_root("a"),
                to: in_root("b"),
            }),
        ),
        ("run a reader", command("ls src")),
        ("run a worker", command("cargo test")),
        ("run something unclear", command("echo $HOME")),
        ("reach", touching(Touch::Reaches("docs.rs".into()))),
        (
            "reach a server's tool",
            touching(Touch::Reaches("mcp:s/t".into())),
        ),
        ("unknown", touching(Touch::Unknown)),
        ("switch to allow-all", switching("allow-all")),
        ("switch to accept-edits", switching("accept-edits")),
        ("switch to ask", switching("ask")),
        ("switch to read-only", switching("read-only")),
        ("switch to deny-all", switching("deny-all")),
        ("switch to no mode", switching("bypass")),
        (
            "protected write",
            touching(Touch::Writes(in_root(".git/config"))),
        ),
        (
            "protected and asked",
            touching(Touch::Writes(in_root(".vscode/a"))),
        ),
        ("protected in a text", command("echo $X > .git/config")),
        ("denied", command("sudo ls")),
        ("asked", touching(Touch::Reads(in_root("notes/a")))),
    ]
}

const BARRIERS: &str = "[[deny]]\nrun = 'sudo'\n[[ask]]\nread = 'notes'\n";

#[test]
fn what_no_rule_covers_is_up_to_the_mode() {
    check(
        BARRIERS,
        &touches(),
        expect![[r#"
            nothing                  allow allow allow allow deny
            read inside              allow allow allow allow deny
            read outside             allow ask   ask   ask   deny
            write inside             allow allow ask   deny  deny
            write outside            allow ask   ask   deny  deny
            delete                   allow ask   ask   deny  deny
            move                     allow ask   ask   deny  deny
            run a reader             allow ask   ask   ask   deny
            run a worker             allow ask   ask   deny  deny
            run something unclear    allow ask   ask   deny  deny
            reach                    allow ask   ask   ask   deny
            reach a server's tool    allow ask   ask   deny  deny
            unknown                  allow ask   ask   deny  deny
            switch to allow-all      allow ask   ask   ask   deny
            switch to accept-edits   allow allow ask   ask   deny
            switch to ask            allow allow allow ask   deny
            switch to read-only      allow allow allow allow deny
            switch to deny-all       allow allow allow allow deny
            switch to no mode        deny  deny  deny  deny  deny
            protected write          deny  deny  deny  deny  deny
            protected and asked      ask   ask   ask   deny  deny
            protected in a text      ask   ask   ask   deny  deny
            denied                   deny  deny  deny  deny  deny
            asked                    ask   ask   ask   ask   deny
        "#]],
    );
}

#[test]
fn what_rules_allow_is_allowed_unless_the_mode_holds() {
    let allowing = "[[allow]]\nrun = ['ls', 'cargo', 'sudo']\nread = '/**'\nwrite = '/**'\ndelete = '/**'\nreach = '*'\n";
    check(
        &format!("{allowing}{BARRIERS}"),
        &touches(),
        expect![[r#"
            nothing                  allow allow allow allow deny
            read inside              allow allow allow allow deny
            read outside             allow allow allow allow deny
            write inside             allow allow allow deny  deny
            write outside            allow allow allow deny  deny
            delete                   allow allow allow deny  deny
            move                     allow allow allow deny  deny
            run a reader             allow allow allow allow deny
            run a worker             allow allow allow deny  deny
            run something unclear    allow ask   ask   deny  deny
            reach                    allow allow allow allow deny
            reach a server's tool    allow ask   ask   deny  deny
            unknown                  allow ask   ask   deny  deny
            switch to allow-all      allow ask   ask   ask   deny
            switch to accept-edits   allow allow ask   ask   deny
            switch to ask            allow allow allow ask   deny
            switch to read-only      allow allow allow allow deny
            switch to deny-all       allow allow allow allow deny
            switch to no mode        deny  deny  deny  deny  deny
            protected write          deny  deny  deny  deny  deny
            protected and asked      ask   ask   ask   deny  deny
            protected in a text      ask   ask   ask   deny  deny
            denied                   deny  deny  deny  deny  deny
            asked                    ask   ask   ask   ask   deny
        "#]],
    );
}

#[test]
fn only_allow_all_is_loud() {
    let loud = Mode::ALL
        .into_iter()
        .filter(|mode| mode.warning().is_some());
    assert_eq!(loud.collect::<Vec<_>>(), [Mode::AllowAll]);
}

#[test]
fn flags_choose_the_mode_and_projects_only_tighten_it() {
    let mode = |layers: Vec<Layer>| {
        Rules::new(layers, RuleContext::default())
            .expect("a policy")
            .mode()
    };
    let own = || user("mode = 'accept-edits'\n");
    let flags = |mode| Layer::of_mode(LayerSource::Flags, mode);
    let project = |text: &str, trust| parse(text, LayerSource::Project, trust).expect("a policy");
    assert_eq!(mode(vec![]), Mode::Ask);
    assert_eq!(mode(vec![own()]), Mode::AcceptEdits);
    assert_eq!(mode(vec![own(), flags(Mode::AllowAll)]), Mode::AllowAll);
    for trust in [Trust::Trusted, Trust::Untrusted] {
        assert_eq!(
            mode(vec![own(), project("mode = 'allow-all'\n", trust)]),
            Mode::AcceptEdits
        );
        assert_eq!(
            mode(vec![own(), project("mode = 'read-only'\n", trust)]),
            Mode::ReadOnly
        );
    }
    let tight = vec![own(), project("mode = 'read-only'\n", Trust::Untrusted)];
    let tight = Rules::new(tight, RuleContext::default()).expect("a policy");
    assert_eq!(tight.in_mode(Mode::AllowAll).mode(), Mode::ReadOnly);
    assert_eq!(tight.in_mode(Mode::DenyAll).mode(), Mode::DenyAll);
}
