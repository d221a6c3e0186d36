//! The rules that an "always" answer may remember: each parses as itself and allows the call.
//! The tests also show what is never offered.

use std::fmt::Write;

use expect_test::{Expect, expect};
use toolcall::{
    Command, Effect, Intent, Kind, Origin, Policy, Reading, Rule, ToolIdentity, Touch, Verdict,
};
use toolcall_policy::{Layer, PolicyRule, RuleContext, RuleEffect, Rules};

use crate::rules::fixture::{ROOT, command, context, in_root, judged, rules, touching};

const SOME: &str = "[[allow]]\nrun = ['tail', 'echo']\n[[ask]]\nrun = 'terraform'\n";

fn offers(intent: &Intent) -> Vec<Rule> {
    match rules(SOME).judge(intent, &context()) {
        Verdict::Ask { offers, .. } => offers,
        Verdict::Allow { .. } | Verdict::Deny { .. } => Vec::new(),
    }
}

/// Every offer parses as the same rule, and allows the call that it was offered for.
fn check_each(intent: &Intent) {
    for rule in offers(intent) {
        let read = PolicyRule::from_text(&rule.text, RuleEffect::Allow, None).expect("a rule");
        assert_eq!(read.text(), *rule.text);
        for (effect, wanted) in [
            (Effect::Allow, RuleEffect::Allow),
            (Effect::Deny, RuleEffect::Deny),
        ] {
            let remembered = Layer::remembered([(&rule, effect)], None).expect("a layer");
            let rules = Rules::new(
                [crate::rules::fixture::user(SOME), remembered],
                RuleContext::default(),
            )
            .expect("a policy");
            assert_eq!(judged(&rules, intent), wanted, "{}", rule.text);
        }
    }
}

fn check(intents: &[(&str, Intent)], expect: Expect) {
    let mut all = String::new();
    for (name, intent) in intents {
        writeln!(all, "{name}").unwrap();
        for rule in offers(intent) {
            writeln!(all, "    {:?}: {}", rule.lifetime, rule.text).unwrap();
        }
        check_each(intent);
    }
    expect.assert_eq(&all);
}

fn commands(texts: &[&'static str]) -> Vec<(&'static str, Intent)> {
    texts.iter().map(|text| (*text, command(text))).collect()
}

#[test]
fn commands_are_offered_by_their_words_and_to_the_letter() {
    let texts = [
        "cargo test -p x 2>&1 | tail -5",
        "git log --oneline | head",
        "git push origin main",
        "mv a b",
        "sed -i s/a/b/ a.txt",
        "grep -n 'a b' x.txt > out.txt",
        "echo $HOME",
        "echo \"it's\" $X",
    ];
    check(
        &commands(&texts),
        expect![[r#"
        cargo test -p x 2>&1 | tail -5
            Session: exactly = "cargo test -p x 2>&1 | tail -5", in = "/w/proj"
            Project: exactly = "cargo test -p x 2>&1 | tail -5", in = "/w/proj"
            Session: run = "cargo test"
            Project: run = "cargo test"
            Everywhere: run = "cargo test"
        git log --oneline | head
            Session: exactly = "git log --oneline | head", in = "/w/proj"
            Project: exactly = "git log --oneline | head", in = "/w/proj"
            Session: run = ["git log", "head"]
            Project: run = ["git log", "head"]
            Everywhere: run = ["git log", "head"]
        git push origin main
            Session: exactly = "git push origin main", in = "/w/proj"
            Project: exactly = "git push origin main", in = "/w/proj"
        mv a b
            Session: exactly = "mv a b", in = "/w/proj"
            Project: exactly = "mv a b", in = "/w/proj"
        sed -i s/a/b/ a.txt
            Session: exactly = "sed -i s/a/b/ a.txt", in = "/w/proj"
            Project: exactly = "sed -i s/a/b/ a.txt", in = "/w/proj"
        grep -n 'a b' x.txt > out.txt
            Session: exactly = "grep -n 'a b' x.txt > out.txt", in = "/w/proj", write = "./out.txt"
            Project: exactly = "grep -n 'a b' x.txt > out.txt", in = "/w/proj", write = "./out.txt"
            Session: run = "grep", write = "./out.txt"
            Project: run = "grep", write = "./out.txt"
        echo $HOME
            Session: exactly = "echo $HOME", in = "/w/proj"
        echo "it's" $X
            Session: exactly = "echo \"it's\" $X", in = "/w/proj"
    "#]],
    );
}

#[test]
fn what_runs_anything_is_never_offered() {
    let texts = [
        "bash -lc 'make'",
        "sh -c ls",
        "env FOO=1 make",
        "sudo ls",
        "rm x",
        "python3 x.py",
        "python3.12 -c 1",
        "node x.js",
        "npx x",
        "timeout 5 make",
        "ls | xargs touch",
        "./run.sh",
        "/usr/bin/make",
        "python3 $X",
        "touch .env",
        "terraform plan",
    ];
    for text in texts {
        assert_eq!(offers(&command(text)), [], "{text}");
    }
    for text in ["git x", "npm x", "npm run", "cargo"] {
        let is_bare = |rule: &Rule| rule.text.starts_with("run = ");
        assert!(!offers(&command(text)).iter().any(is_bare), "{text}");
    }
}

#[test]
fn variables_in_the_environment_are_never_covered() {
    let mut run = Command::new("make", ROOT, toolcall_shell::read("make", ROOT.as_ref()));
    run.env.insert("X".into(), "1".into());
    let intent = Intent::new(Kind::Execute, "make").running(run);
    assert_eq!(offers(&intent), []);
    let rules = rules("[[allow]]\nrun = 'make'\nexactly = 'make'\n");
    assert_eq!(judged(&rules, &intent), RuleEffect::Ask);
}

#[test]
fn files_hosts_and_tools_are_offered_as_they_are() {
    let mut of_server = touching(Touch::Unknown);
    of_server.tool = ToolIdentity {
        name: "create_issue".into(),
        origin: Origin::Mcp("gh".into()),
        provider: "".into(),
        digest: "abc123".into(),
    };
    let mut reaching = touching(Touch::Reaches("mcp:gh/create_issue".into()));
    reaching.tool = of_server.tool.clone();
    let mut odd = of_server.clone();
    odd.tool.origin = Origin::Mcp("a/b".into());
    check(
        &[
            ("write", touching(Touch::Writes(in_root("src/a.rs")))),
            (
                "write an odd name",
                touching(Touch::Writes(in_root("src/[a]*\u{202e}.rs"))),
            ),
            ("read outside", touching(Touch::Reads("/etc/hosts".into()))),
            (
                "move",
                touching(Touch::Moves {
                    from: in_root("a"),
                    to: in_root("b"),
                }),
            ),
            ("protected", touching(Touch::Writes(in_root(".vscode/a")))),
            ("reach", touching(Touch::Reaches("docs.rs".into()))),
            (
                "reach a port",
                touching(Touch::Reaches("localhost:8080".into())),
            ),
            ("a tool of a server", of_server),
            ("the same, by name", reaching),
            ("a server whose name cannot be written", odd),
            ("a tool without a definition", touching(Touch::Unknown)),
        ],
        expect![[r#"
            write
                Session: write = "./src/a.rs"
                Project: write = "./src/a.rs"
            write an odd name
                Session: write = "./src/[[]a[]][*]\U0000202E.rs"
                Project: write = "./src/[[]a[]][*]\U0000202E.rs"
            read outside
                Session: read = "/etc/hosts"
                Project: read = "/etc/hosts"
            move
                Session: write = "./b", delete = "./a"
                Project: write = "./b", delete = "./a"
            protected
            reach
                Session: reach = "docs.rs"
                Project: reach = "docs.rs"
                Everywhere: reach = "docs.rs"
            reach a port
                Session: reach = "localhost:8080"
                Project: reach = "localhost:8080"
                Everywhere: reach = "localhost:8080"
            a tool of a server
                Session: tool = "mcp:gh/create_issue", definition = "abc123"
                Project: tool = "mcp:gh/create_issue", definition = "abc123"
                Everywhere: tool = "mcp:gh/create_issue", definition = "abc123"
            the same, by name
                Session: tool = "mcp:gh/create_issue", definition = "abc123"
                Project: tool = "mcp:gh/create_issue", definition = "abc123"
                Everywhere: tool = "mcp:gh/create_issue", definition = "abc123"
            a server whose name cannot be written
            a tool without a definition
        "#]],
    );
}

#[test]
fn a_grant_ends_with_the_definition_it_was_for() {
    let mut intent = touching(Touch::Unknown);
    intent.tool = ToolIdentity {
        name: "x".into(),
        origin: Origin::Mcp("s".into()),
        provider: "".into(),
        digest: "d1".into(),
    };
    let rules = rules("[[allow]]\ntool = 'mcp:s/x'\ndefinition = 'd1'\n");
    assert_eq!(judged(&rules, &intent), RuleEffect::Allow);
    let mut changed = intent.clone();
    changed.tool.digest = "d2".into();
    assert_eq!(judged(&rules, &changed), RuleEffect::Ask);
    let mut elsewhere = intent.clone();
    elsewhere.tool.origin = Origin::Mcp("t".into());
    assert_eq!(judged(&rules, &elsewhere), RuleEffect::Ask);
    // A rule for a tool is no rule for what it runs.
    let running = command("ls");
    intent.touches = running.touches;
    assert_eq!(judged(&rules, &intent), RuleEffect::Ask);
}

#[test]
fn a_text_that_is_not_understood_is_remembered_for_the_session_only() {
    let intent = command("echo $X");
    let Touch::Runs(run) = &intent.touches[0] else {
        panic!("a command");
    };
    assert!(matches!(run.reading, Reading::Unclear(_)));
    let lifetimes: Vec<_> = offers(&intent).iter().map(|rule| rule.lifetime).collect();
    assert_eq!(lifetimes, [toolcall::Lifetime::Session]);
}
