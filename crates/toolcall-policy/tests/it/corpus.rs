//! Ordinary development commands, judged by the example policy of the documentation.
//! Those that it means to allow are marked; no other may be allowed.

use std::collections::BTreeMap;
use std::path::Path;

use toolcall::{Command, Intent, Kind, Policy, SessionContext, SessionId, Verdict};
use toolcall_policy::{Layer, LayerSource, PolicyText, RuleContext, RuleEffect, Rules, Trust};

const COMMANDS: &str = include_str!("corpus/commands.txt");
const POLICY: &str = include_str!("../../../../docs/policy-example.toml");
const ROOT: &str = "/w/proj";

fn rules() -> Rules {
    let layer = Layer::parse(PolicyText {
        file: "docs/policy-example.toml",
        text: POLICY,
        scope: LayerSource::User,
        trust: Trust::Trusted,
        home: Some(Path::new("/home/u")),
    });
    let layer = layer.unwrap_or_else(|error| panic!("{error}"));
    Rules::new([layer], RuleContext::default()).expect("a policy")
}

fn intent(text: &str) -> Intent {
    let reading = toolcall_shell::read(text, ROOT.as_ref());
    let files = toolcall_shell::touches(&reading);
    let intent = Intent::new(Kind::Execute, text).running(Command::new(text, ROOT, reading));
    files.into_iter().fold(intent, Intent::touching)
}

fn context() -> SessionContext {
    SessionContext::new(SessionId::new("s"), ROOT)
}

fn marked(mark: char) -> Vec<&'static str> {
    let lines = COMMANDS.lines().filter_map(|line| line.strip_prefix(mark));
    lines.map(str::trim).collect()
}

#[test]
fn ordinary_commands_are_allowed() {
    let (rules, meant) = (rules(), marked('+'));
    let mut refused = BTreeMap::<String, Vec<&str>>::new();
    for text in &meant {
        let explanation = rules.explain(&intent(text), &context());
        if explanation.effect != RuleEffect::Allow {
            refused.entry(explanation.reason).or_default().push(text);
        }
    }
    let count: usize = refused.values().map(Vec::len).sum();
    println!("{} meant to be allowed, {count} are not:", meant.len());
    for (reason, texts) in &refused {
        println!("  {reason}: {texts:?}");
    }
    assert!(meant.len() >= 300);
    assert!(
        count * 10 <= meant.len(),
        "{count} of {} are not allowed",
        meant.len()
    );
}

/// There are enough commands of every kind.
#[test]
fn the_corpus_has_every_kind() {
    let kinds = COMMANDS.split("# ").skip(1);
    let counts: Vec<_> = kinds
        .map(|kind| {
            (
                kind.lines().next().unwrap_or_default(),
                kind.lines().count() - 1,
            )
        })
        .collect();
    println!("{counts:?}");
    assert_eq!(counts.len(), 9);
    assert!(counts.iter().all(|(_, count)| *count >= 10), "{counts:?}");
}

#[test]
fn nothing_else_is_allowed() {
    let rules = rules();
    let is_allowed = |text: &&str| {
        matches!(
            rules.judge(&intent(text), &context()),
            Verdict::Allow { .. }
        )
    };
    let allowed: Vec<_> = marked('-').into_iter().filter(is_allowed).collect();
    assert_eq!(allowed, Vec::<&str>::new());
}

/// The verdict and its explanation agree.
#[test]
fn an_explanation_tells_the_verdict() {
    let rules = rules();
    for text in marked('+').into_iter().chain(marked('-')) {
        let explained = rules.explain(&intent(text), &context());
        let judged = match rules.judge(&intent(text), &context()) {
            Verdict::Allow { rule } => (RuleEffect::Allow, rule.to_string()),
            Verdict::Ask { rule, .. } => (RuleEffect::Ask, rule.to_string()),
            Verdict::Deny { rule, .. } => (RuleEffect::Deny, rule.to_string()),
        };
        assert_eq!((explained.effect, explained.rule), judged, "{text}");
        let strongest = explained.steps.iter().map(|step| step.effect).max();
        assert_eq!(strongest, Some(explained.effect), "{text}");
    }
}
