//! The built-in policies, and what a remembered answer covers.
//! It must not run a call: a policy sees an intent and a session context and nothing else.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use toolcall::text::is_hidden;
use toolcall::{
    AllowAll, AnswerContext, AskAll, AskDangerous, CallId, Command, DenyAll, Effect, Intent, Kind,
    Lifetime, Origin, Part, Policy, Reading, Rule, RuleName, Rulebook, SessionContext, SessionId,
    SessionRulebook, Timestamp, ToolIdentity, Touch, Verdict,
};

fn session_context() -> SessionContext {
    SessionContext::new(SessionId::new("session"), "/home/work")
}

fn tool(name: &str, origin: Origin, digest: &str) -> ToolIdentity {
    ToolIdentity {
        name: name.into(),
        origin,
        provider: "".into(),
        digest: digest.into(),
    }
}

fn intent(touches: Vec<Touch>) -> Intent {
    let mut intent = Intent::new(Kind::Other, "title");
    intent.touches = touches;
    intent.tool = tool("edit", Origin::Local, "0011223344556677");
    intent
}

fn runs(text: &str, cwd: &str, reading: Reading) -> Touch {
    Touch::Runs(Command::new(text, cwd, reading))
}

fn understood(text: &str) -> Reading {
    Reading::Understood(vec![Part::new(vec![text.to_owned()], "/home/work")])
}

fn every_touch() -> [Touch; 8] {
    [
        Touch::Reads("/home/work/a".into()),
        Touch::Writes("/home/work/a".into()),
        Touch::Deletes("/home/work/a".into()),
        Touch::Moves {
            from: "/home/work/a".into(),
            to: "/home/work/b".into(),
        },
        runs("ls", "/home/work", understood("ls")),
        runs("for", "/home/work", Reading::Unclear("a loop".into())),
        Touch::Reaches("example.com".into()),
        Touch::Unknown,
    ]
}

fn judge(policy: &dyn Policy, touches: Vec<Touch>) -> Verdict {
    policy.judge(&intent(touches), &session_context())
}

fn asks(rule: &'static str, touches: &[Touch]) -> Verdict {
    Verdict::Ask {
        rule: RuleName::new(rule),
        offers: vec![Rule::exactly(&intent(touches.to_vec()))],
    }
}

#[test]
fn ready_policies_say_the_same_of_every_touch() {
    for touch in every_touch() {
        let touches = vec![touch];
        let denied = Verdict::deny("deny-all", "this policy denies everything");
        assert_eq!(
            judge(&AllowAll, touches.clone()),
            Verdict::allow("allow-all")
        );
        assert_eq!(judge(&DenyAll, touches.clone()), denied);
        assert_eq!(judge(&AskAll, touches.clone()), asks("ask-all", &touches));
    }
}

#[test]
fn reads_within_the_roots_and_nothing_at_all_are_harmless() {
    let harmless = Verdict::allow("harmless");
    assert_eq!(judge(&AskDangerous, Vec::new()), harmless);
    for touch in every_touch() {
        let expected = match touch {
            Touch::Reads(_) => harmless.clone(),
            _ => asks("dangerous", std::slice::from_ref(&touch)),
        };
        assert_eq!(judge(&AskDangerous, vec![touch]), expected);
    }
}

#[test]
fn reads_beyond_the_roots_are_dangerous() {
    let outside = [
        "/etc/passwd",
        "/home/worker/a",
        "/home",
        "/home/work/../../etc/passwd",
        "home/work/a",
    ];
    for path in outside {
        let touches = [Touch::Reads(path.into())];
        let verdict = judge(&AskDangerous, touches.to_vec());
        assert_eq!(verdict, asks("dangerous", &touches), "{path}");
    }
}

#[test]
fn one_dangerous_touch_among_harmless_ones_is_dangerous() {
    let mut touches = vec![Touch::Reads("/home/work/a".into()); 3];
    touches.push(Touch::Writes("/home/work/a".into()));
    assert_eq!(
        judge(&AskDangerous, touches.clone()),
        asks("dangerous", &touches)
    );
}

#[test]
fn every_root_counts() {
    let mut session_context = session_context();
    session_context.roots.push("/data".into());
    let inside = |path: &str| session_context.contains(Path::new(path));
    assert_eq!(
        ["/data", "/data/x", "/home/work/x", "/datax"].map(inside),
        [true, true, true, false]
    );
}

#[test]
fn a_closure_is_a_policy() {
    let by_folder = |_: &Intent, session_context: &SessionContext| {
        if session_context.cwd.ends_with("work") {
            Verdict::allow("at work")
        } else {
            Verdict::deny("at home", "not here")
        }
    };
    assert_eq!(judge(&by_folder, Vec::new()), Verdict::allow("at work"));
}

fn command(text: &str, cwd: &str) -> Intent {
    intent(vec![runs(text, cwd, understood(text))])
}

fn of_tool(identity: ToolIdentity) -> Intent {
    let mut intent = intent(vec![Touch::Writes("/a".into())]);
    intent.tool = identity;
    intent
}

fn answer_context() -> AnswerContext {
    AnswerContext {
        when: Timestamp::default(),
        session: SessionId::new("s"),
        call: CallId::new("c"),
        title: "a call".into(),
    }
}

/// Remembers "always" for one intent and returns whether it covers another.
fn covers(kept: &Intent, other: &Intent) -> bool {
    let rulebook = SessionRulebook::new(AskAll);
    let rule = Rule::exactly(kept);
    assert_eq!(
        rulebook.remember(&rule, Effect::Allow, &answer_context()),
        Ok(())
    );
    match rulebook.policy().judge(other, &session_context()) {
        Verdict::Allow { rule: by } => {
            assert_eq!(by, RuleName::new(rule.text.to_string()));
            true
        }
        verdict => {
            assert_eq!(verdict, Verdict::ask("ask-all", other));
            false
        }
    }
}

#[test]
fn a_remembered_allow_answers_the_same_ask_again() {
    for touch in every_touch() {
        let asked = intent(vec![touch]);
        assert!(covers(&asked, &asked.clone()));
    }
}

#[test]
fn a_remembered_allow_ignores_title_and_preview() {
    let asked = intent(vec![Touch::Writes("/a".into())]);
    let retold = Intent {
        title: "another title".to_owned(),
        preview: vec!["other words".into()],
        ..asked.clone()
    };
    assert!(covers(&asked, &retold));
}

#[test]
fn a_remembered_allow_answers_nothing_else() {
    let mcp = |server: &str, digest| tool("edit", Origin::Mcp(server.into()), digest);
    let agent = |digest| tool("edit", Origin::Agent, digest);
    let local = |name| tool(name, Origin::Local, "00");
    let path = |path: &str| intent(vec![Touch::Writes(path.into())]);
    let unclear = |text| intent(vec![runs(text, "/w", Reading::Unclear("why".into()))]);
    let both = intent(vec![Touch::Writes("/a".into()), Touch::Writes("/b".into())]);
    let different = [
        (path("/a"), path("/b")),
        (path("/a"), path("/a/b")),
        (path("/a"), intent(vec![Touch::Reads("/a".into())])),
        (path("/a"), intent(vec![Touch::Deletes("/a".into())])),
        (path("/a"), both.clone()),
        (both, path("/a")),
        (path("/a"), intent(vec![Touch::Unknown])),
        (path("/a"), intent(Vec::new())),
        (command("ls", "/w"), command("ls -a", "/w")),
        (command("ls", "/w"), command("ls", "/x")),
        (command("ls", "/w"), unclear("ls")),
        (of_tool(local("edit")), of_tool(local("write"))),
        (of_tool(local("edit")), of_tool(agent("00"))),
        (of_tool(mcp("s", "00")), of_tool(mcp("t", "00"))),
        (of_tool(mcp("s", "00")), of_tool(mcp("s", "01"))),
        (of_tool(agent("00")), of_tool(agent("01"))),
    ];
    for (kept, other) in different {
        assert!(!covers(&kept, &other), "{kept:?} covers {other:?}");
    }
}

#[test]
fn a_remembered_allow_never_lifts_a_denial() {
    let rulebook = SessionRulebook::new(AskAll);
    let asked = intent(vec![Touch::Writes("/a".into())]);
    assert_eq!(
        rulebook.remember(&Rule::exactly(&asked), Effect::Allow, &answer_context()),
        Ok(())
    );
    rulebook.replace(DenyAll);
    let verdict = rulebook.policy().judge(&asked, &session_context());
    assert_eq!(verdict, judge(&DenyAll, Vec::new()));
}

#[test]
fn a_remembered_answer_never_restricts_what_is_allowed() {
    let rulebook = SessionRulebook::new(AllowAll);
    let asked = intent(vec![Touch::Writes("/a".into())]);
    assert_eq!(
        rulebook.remember(&Rule::exactly(&asked), Effect::Deny, &answer_context()),
        Ok(())
    );
    let verdict = rulebook.policy().judge(&asked, &session_context());
    assert_eq!(verdict, Verdict::allow("allow-all"));
}

#[test]
fn a_remembered_deny_beats_a_remembered_allow_in_either_order() {
    let asked = intent(vec![Touch::Writes("/a".into())]);
    let rule = Rule::exactly(&asked);
    for order in [[Effect::Allow, Effect::Deny], [Effect::Deny, Effect::Allow]] {
        let rulebook = SessionRulebook::new(AskAll);
        for effect in order {
            assert_eq!(rulebook.remember(&rule, effect, &answer_context()), Ok(()));
        }
        let verdict = rulebook.policy().judge(&asked, &session_context());
        let denied = Verdict::deny(rule.text.to_string(), "you chose to always reject this");
        assert_eq!(verdict, denied);
    }
}

/// A question with a narrow and a wide offer, of which one was allowed and one denied.
#[test]
fn of_two_remembered_offers_the_deny_wins() {
    let offer = |text: &str| Rule {
        text: text.into(),
        lifetime: Lifetime::Session,
    };
    let policy = move |_: &Intent, _: &SessionContext| Verdict::Ask {
        rule: RuleName::new("two offers"),
        offers: vec![offer("narrow"), offer("wide")],
    };
    let rulebook = SessionRulebook::new(policy);
    assert_eq!(
        rulebook.remember(&offer("narrow"), Effect::Allow, &answer_context()),
        Ok(())
    );
    assert_eq!(
        rulebook.remember(&offer("wide"), Effect::Deny, &answer_context()),
        Ok(())
    );
    let denied = Verdict::deny("wide", "you chose to always reject this");
    assert_eq!(judge(&*rulebook.policy(), Vec::new()), denied);
}

#[test]
fn a_policy_once_taken_stays_as_it_was() {
    let rulebook = SessionRulebook::new(AskAll);
    let asked = intent(vec![Touch::Writes("/a".into())]);
    let snapshot = rulebook.policy();
    assert_eq!(
        rulebook.remember(&Rule::exactly(&asked), Effect::Allow, &answer_context()),
        Ok(())
    );
    let verdict = snapshot.judge(&asked, &session_context());
    assert_eq!(verdict, Verdict::ask("ask-all", &asked));
}

#[test]
fn every_change_is_announced() {
    let rulebook = SessionRulebook::new(AskAll);
    let mut changes = rulebook.changes();
    assert!(!changes.has_changed().expect("the rulebook is there"));
    let rule = Rule::exactly(&intent(Vec::new()));
    assert_eq!(
        rulebook.remember(&rule, Effect::Allow, &answer_context()),
        Ok(())
    );
    assert!(changes.has_changed().expect("the rulebook is there"));
    assert_eq!(*changes.borrow_and_update(), 1);
    rulebook.replace(DenyAll);
    assert!(changes.has_changed().expect("the rulebook is there"));
    assert_eq!(*changes.borrow_and_update(), 2);
}

/// Letters, quotes, separators and invisible characters.
fn any_text() -> impl Strategy<Value = String> {
    let characters = "ab \"'\\,/…\n\r\t\u{0}\u{1b}\u{7f}\u{a0}\u{ad}\u{200b}\u{202e}\u{2066}\u{3164}\u{fe0f}\u{feff}\u{e0041}";
    let characters: Vec<char> = characters.chars().collect();
    vec(prop::sample::select(characters), 0..6).prop_map(String::from_iter)
}

fn any_path() -> impl Strategy<Value = PathBuf> {
    any_text().prop_map(|text| PathBuf::from(format!("/{text}")))
}

fn any_touch() -> impl Strategy<Value = Touch> {
    let unclear = || Reading::Unclear("why".into());
    prop_oneof![
        any_path().prop_map(Touch::Reads),
        any_path().prop_map(Touch::Writes),
        any_path().prop_map(Touch::Deletes),
        (any_path(), any_path()).prop_map(|(from, to)| Touch::Moves { from, to }),
        (any_text(), any_text()).prop_map(|(text, cwd)| runs(&text, &cwd, understood(&text))),
        (any_text(), any_text()).prop_map(move |(text, cwd)| runs(&text, &cwd, unclear())),
        any_text().prop_map(|host| Touch::Reaches(host.into())),
    ]
}

fn any_identity() -> impl Strategy<Value = ToolIdentity> {
    let digest = "[01]{12}";
    prop_oneof![
        any_text().prop_map(|name| tool(&name, Origin::Local, "")),
        (any_text(), any_text(), digest).prop_map(|(name, server, digest)| tool(
            &name,
            Origin::Mcp(server.into()),
            &digest
        )),
        (any_text(), digest).prop_map(|(name, digest)| tool(&name, Origin::Agent, &digest)),
    ]
}

fn any_intent() -> impl Strategy<Value = Intent> {
    (any_identity(), vec(any_touch(), 1..3)).prop_map(|(identity, mut touches)| {
        touches.dedup();
        let mut intent = intent(touches);
        intent.tool = identity;
        intent
    })
}

/// Everything that distinguishes two intents, byte by byte: `/a` and `/a/` may have two rules.
type IntentKey = (ToolIdentity, Vec<(&'static str, Vec<String>)>);

fn intent_key(intent: &Intent) -> IntentKey {
    (
        intent.tool.clone(),
        intent.touches.iter().map(touch_key).collect(),
    )
}

fn touch_key(touch: &Touch) -> (&'static str, Vec<String>) {
    let path = |path: &Path| path.to_str().expect("made from text").to_owned();
    match touch {
        Touch::Reads(a) => ("reads", vec![path(a)]),
        Touch::Writes(a) => ("writes", vec![path(a)]),
        Touch::Deletes(a) => ("deletes", vec![path(a)]),
        Touch::Moves { from, to } => ("moves", vec![path(from), path(to)]),
        Touch::Runs(Command {
            text, cwd, reading, ..
        }) => {
            let how = match reading {
                Reading::Understood(_) => "runs",
                Reading::Unclear(_) => "runs text",
            };
            (how, vec![text.to_string(), path(cwd)])
        }
        Touch::Reaches(host) => ("reaches", vec![host.to_string()]),
        Touch::Unknown => ("unknown", Vec::new()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_rule_hides_nothing(intent in any_intent()) {
        let text = Rule::exactly(&intent).text;
        let hidden: Vec<char> = text.chars().filter(|c| is_hidden(*c) || c.is_control()).collect();
        prop_assert_eq!(hidden, Vec::<char>::new(), "{}", text);
    }

    #[test]
    fn different_intents_have_different_rules(intents in vec(any_intent(), 2..40)) {
        let essences: HashSet<IntentKey> = intents.iter().map(intent_key).collect();
        let rules: HashSet<Arc<str>> = intents.iter().map(|i| Rule::exactly(i).text).collect();
        prop_assert_eq!(essences.len(), rules.len());
    }
}
