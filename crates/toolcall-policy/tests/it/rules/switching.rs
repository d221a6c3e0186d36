//! Switches to another mode: which are allowed, which are asked about, and which rules apply.
//! The mode is not switched here; only the intent is judged.

use expect_test::expect;
use toolcall::{Effect, Intent, Lifetime, Policy as _, Rule, Touch, Verdict};
use toolcall_policy::{Layer, LayerSource, Mode, RuleContext, RuleEffect, Rules, Trust};

use crate::rules::fixture::{context, judged, parse, rules, switching, touching, user};

/// A switch that names its tool as the engine would.
fn by_tool(mode: &str) -> Intent {
    let mut intent = switching(mode);
    intent.tool.name = "switch_mode".into();
    intent.tool.digest = "d1".into();
    intent
}

#[test]
fn nothing_makes_a_looser_mode_silent() {
    let grants = "[[allow]]\ntool = 'switch_mode'\ndefinition = 'd1'\n[[allow]]\nreach = '*'\n";
    let remembered = Rule {
        text: r#"tool = "switch_mode", definition = "d1""#.into(),
        lifetime: Lifetime::Session,
    };
    let remembered = Layer::remembered([(&remembered, Effect::Allow)], None).unwrap();
    let rules = Rules::new([user(grants), remembered], RuleContext::default()).unwrap();
    for (from, to) in [
        (Mode::AcceptEdits, "allow-all"),
        (Mode::Ask, "accept-edits"),
        (Mode::ReadOnly, "ask"),
    ] {
        let verdict = rules.in_mode(from).judge(&by_tool(to), &context());
        let Verdict::Ask { rule, offers } = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(rule.as_str(), format!("mode {}", from.as_str()));
        assert_eq!(offers, []);
    }
}

#[test]
fn a_stricter_mode_is_silent_unless_a_rule_says_otherwise() {
    let effect_of = |text: &str| judged(&rules(text), &by_tool("read-only"));
    assert_eq!(effect_of(""), RuleEffect::Allow);
    assert_eq!(
        effect_of("[[deny]]\ntool = 'switch_mode'\n"),
        RuleEffect::Deny
    );
    assert_eq!(effect_of("[[deny]]\nreach = 'mode:*'\n"), RuleEffect::Deny);
    assert_eq!(
        effect_of("[[deny]]\nreach = 'mode:read-only'\n"),
        RuleEffect::Deny
    );
    assert_eq!(effect_of("[[deny]]\nreach = '*'\n"), RuleEffect::Deny);
    assert_eq!(effect_of("[[ask]]\nreach = 'mode:*'\n"), RuleEffect::Ask);
    assert_eq!(
        effect_of("[[deny]]\nreach = 'mode:ask'\n"),
        RuleEffect::Allow
    );
    assert_eq!(
        effect_of("[[deny]]\nreach = 'mode:80'\n"),
        RuleEffect::Allow
    );
}

#[test]
fn a_question_about_a_stricter_mode_offers_nothing_either() {
    let rules = rules("[[ask]]\nreach = 'mode:*'\n");
    let explained = rules.explain(&by_tool("read-only"), &context());
    assert_eq!(
        (explained.effect, explained.offers),
        (RuleEffect::Ask, vec![])
    );
}

#[test]
fn what_else_a_call_does_is_judged_as_well() {
    let both = by_tool("read-only").touching(Touch::Writes("/etc/passwd".into()));
    assert_eq!(judged(&rules(""), &both), RuleEffect::Ask);
    let both = by_tool("accept-edits").touching(Touch::Reads("/w/proj/a".into()));
    let explained = rules("").explain(&both, &context());
    assert_eq!(
        (explained.effect, explained.offers),
        (RuleEffect::Ask, vec![])
    );
}

#[test]
fn verdicts_are_explained() {
    let explained = |mode: Mode, wanted: &str| {
        let explained = rules("")
            .in_mode(mode)
            .explain(&switching(wanted), &context());
        let step = &explained.steps[0];
        let change = step.change.as_deref().unwrap_or("nothing");
        format!(
            "{}: {}\n  {}\n  to change it: {change}\n",
            step.what,
            step.effect.as_str(),
            step.reason
        )
    };
    let all = [
        explained(Mode::Ask, "allow-all"),
        explained(Mode::Ask, "read-only"),
        explained(Mode::DenyAll, "ask"),
        explained(Mode::Ask, "bypass"),
    ];
    expect![[r#"
        switches to mode allow-all: ask
          mode `ask` asks before switching to a looser mode: no rule can allow it
          to change it: choose the mode yourself, or answer the question
        switches to mode read-only: allow
          allowed: switching to a mode that is no looser needs no rule in mode `ask`
          to change it: nothing
        switches to mode ask: deny
          mode `deny-all` denies switching to a looser mode, whatever rules say
          to change it: choose another mode than `deny-all`
        switches to mode bypass: deny
          there is no mode `bypass`; choose one of `allow-all`, `accept-edits`, `ask`, `read-only`, `deny-all`
          to change it: nothing
    "#]].assert_eq(&all.concat());
}

#[test]
fn a_host_may_be_called_mode() {
    let host = touching(Touch::Reaches("mode:8080".into()));
    assert_eq!(judged(&rules(""), &host), RuleEffect::Ask);
    assert_eq!(
        judged(&rules("[[allow]]\nreach = 'mode:8080'\n"), &host),
        RuleEffect::Allow
    );
}

#[test]
fn rules_about_modes_that_could_never_hold_are_refused() {
    let error = |text: &str| {
        let error = parse(text, LayerSource::User, Trust::Trusted).expect_err(text);
        format!("{error}\n")
    };
    let all = [
        error("[[allow]]\nreach = 'mode:ask'\n"),
        error("[[allow]]\nreach = 'mode:*'\n"),
        error("[[deny]]\nreach = 'mode:readonly'\n"),
    ];
    expect![[r#"
        policy.toml:1:1: `reach` allows a mode; take it out; a stricter mode needs no rule, and a looser one is always asked about
        policy.toml:1:1: `reach` allows a mode; take it out; a stricter mode needs no rule, and a looser one is always asked about
        policy.toml:2:9: there is no mode `readonly`; write `read-only`
    "#]].assert_eq(&all.concat());
}

#[test]
fn every_mode_is_found_by_its_name_and_described() {
    for mode in Mode::ALL {
        assert_eq!(Mode::named(mode.as_str()), Some(mode));
    }
    assert_eq!(Mode::named("bypass"), None);
    let all = Mode::ALL.map(|mode| format!("{}: {}\n", mode.as_str(), mode.description()));
    expect![[r#"
        allow-all: Everything runs without a question; only deny rules, ask rules and protected paths still hold.
        accept-edits: Files in the session's folders are read and written without a question; the rest is asked about.
        ask: Files in the session's folders are read without a question; the rest is asked about.
        read-only: Files in the session's folders are read without a question; what changes anything is denied.
        deny-all: Every call is denied.
    "#]].assert_eq(&all.concat());
}
