//! Properties of every policy: order does not matter, denials only tighten, wrapping hides nothing.
//! Policies and commands are generated from small pools.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use toolcall::{Command, Intent, Part, Policy, Reading, Touch};
use toolcall_policy::{
    Layer, LayerSource, Mode, PolicyRule, RuleContext, RuleEffect, Rules, Trust,
};
use toolcall_shell::quoted;

use crate::rules::fixture::{ROOT, command, context, in_root, judged, parse, switching, touching};

const EFFECTS: [&str; 3] = ["allow", "ask", "deny"];

const BODIES: &[&str] = &[
    "run = 'ls'",
    "run = 'cat'",
    "run = 'touch'",
    "run = 'git status'",
    "run = ['git log', 'find']",
    "run = 'git push'",
    "run = 'rm'",
    "run = 'sh'",
    "run = 'env'",
    "run = ['sudo', 'timeout', 'nice', 'nohup']",
    "run = 'cargo test'",
    "read = 'src/'",
    "read = 'secrets'",
    "write = '*.md'",
    "write = '**'",
    "delete = './out'",
    "read = '/etc'",
    "reach = 'docs.rs'",
    "reach = '*'",
    "exactly = 'ls src'",
    "write = 'src/', read = '~/x'",
];

const COMMANDS: &[&str] = &[
    "ls",
    "ls src",
    "cat src/a.rs",
    "cat secrets/key",
    "cat /etc/passwd",
    "cat .env",
    "touch a.md",
    "touch .git/hooks/x",
    "touch .vscode/x",
    "sed -i s/a/b/ .git/config",
    "find .git -delete",
    "sort -o .vscode/x a",
    "curl https://docs.rs/x",
    "git status",
    "git log --oneline",
    "git log --output=x",
    "git push origin main",
    "rm -rf out",
    "find . -delete",
    "find . -name '*.rs'",
    "cargo test | cat",
    "ls && rm x",
    "cat < src/a.rs",
    "ls > a.md",
    "ls > .git/config",
    "cd src && ls",
    "cd .. && ls",
    "env ls",
    "echo $X",
    "rm $X",
];

fn rule() -> impl Strategy<Value = String> {
    (select(&EFFECTS[..]), select(BODIES))
        .prop_map(|(effect, body)| format!("[[{effect}]]\n{}\n", body.replace(", read", "\nread")))
}

fn policy() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(rule(), 0..8)
}

fn mode() -> impl Strategy<Value = Mode> {
    select(&Mode::ALL[..])
}

fn intent() -> impl Strategy<Value = Intent> {
    let paths = select(
        &[
            "src/a.rs",
            "a.md",
            "secrets/key",
            "out",
            ".git/config",
            ".env",
            "",
        ][..],
    );
    let files = (0..4, paths).prop_map(|(verb, path)| {
        let path = in_root(path);
        touching(match verb {
            0 => Touch::Reads(path),
            1 => Touch::Writes(path),
            2 => Touch::Deletes(path),
            _ => Touch::Moves {
                from: path,
                to: in_root("b.md"),
            },
        })
    });
    prop_oneof![
        4 => select(COMMANDS).prop_map(command),
        3 => files,
        1 => Just(touching(Touch::Unknown)),
        1 => Just(touching(Touch::Reaches("docs.rs".into()))),
        2 => select(&Mode::ALL[..]).prop_map(|mode| switching(mode.as_str())),
    ]
}

/// Words made of the characters that separate programs and paths, among others.
fn odd_word() -> impl Strategy<Value = String> {
    let pieces = &[
        "-",
        "--",
        "-e",
        "-i",
        "s/",
        "[",
        "]",
        "^",
        "/",
        "é",
        "\u{200b}",
        "://",
        ":",
        "=",
        "~1",
        ".git",
        "..",
        "ext::",
        "'",
        "\"",
        "\\",
        "\n",
        "@",
        "{",
        "w ",
        "e",
        "$",
        "a",
        "*",
        "!",
        "\u{10ffff}",
    ];
    prop::collection::vec(select(&pieces[..]), 0..6).prop_map(|pieces| pieces.concat())
}

fn layer(rules: &[String], scope: LayerSource, trust: Trust) -> Layer {
    let text = rules.concat();
    parse(&text, scope, trust).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn user(rules: &[String]) -> Layer {
    layer(rules, LayerSource::User, Trust::Trusted)
}

fn put_together(layers: impl IntoIterator<Item = Layer>) -> Rules {
    Rules::new(layers, RuleContext::default()).expect("a policy")
}

/// Every way in which one command wraps another.
const WRAPPERS: &[&str] = &[
    "sh -c",
    "bash -lc",
    "env",
    "sudo",
    "nohup",
    "timeout 5",
    "nice -n 5",
    "xargs",
    "find . -exec",
    "busybox",
    "watch",
    "stdbuf -o0",
    "env X=1",
    "/usr/bin/env",
];

fn wrapped(text: &str, wrapper: &str) -> String {
    let takes_text = ["sh -c", "bash -lc", "watch"].contains(&wrapper);
    let is_simple = !text.contains(['&', '|', '>', '<', '$', ';']);
    match (takes_text, is_simple) {
        (true, _) => format!("{wrapper} {}", quoted([text])),
        (false, true) if wrapper == "find . -exec" => format!("find . -exec {text} ';'"),
        (false, true) => format!("{wrapper} {text}"),
        (false, false) => format!("{wrapper} sh -c {}", quoted([text])),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_order_of_rules_changes_nothing(
        (rules, shuffled) in policy().prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        mode in mode(),
        intent in intent(),
    ) {
        let [one, other] = [rules, shuffled].map(|rules| put_together([user(&rules)]).in_mode(mode));
        prop_assert_eq!(judged(&one, &intent), judged(&other, &intent));
    }

    #[test]
    fn the_order_of_layers_changes_nothing(
        (layers, shuffled) in prop::collection::vec(policy(), 0..4)
            .prop_flat_map(|layers| (Just(layers.clone()), Just(layers).prop_shuffle())),
        intent in intent(),
    ) {
        let [one, other] = [layers, shuffled].map(|layers| put_together(layers.iter().map(|rules| user(rules))));
        prop_assert_eq!(one.judge(&intent, &context()), other.judge(&intent, &context()));
    }

    #[test]
    fn one_more_denial_never_allows(rules in policy(), body in select(BODIES), mode in mode(), intent in intent()) {
        let more = [rules.as_slice(), &[format!("[[deny]]\n{}\n", body.replace(", read", "\nread"))]].concat();
        let [less, more] = [rules, more].map(|rules| put_together([user(&rules)]).in_mode(mode));
        prop_assert!(judged(&more, &intent) >= judged(&less, &intent));
    }

    #[test]
    fn an_untrusted_project_never_allows(rules in policy(), theirs in policy(), mode in mode(), intent in intent()) {
        let before = put_together([user(&rules)]);
        let theirs = [vec![format!("mode = '{}'\n", mode.as_str())], theirs].concat();
        let after = put_together([layer(&theirs, LayerSource::Project, Trust::Untrusted), user(&rules)]);
        prop_assert!(judged(&after, &intent) >= judged(&before, &intent));
    }

    #[test]
    fn a_stricter_mode_never_allows(rules in policy(), intent in intent()) {
        let rules = put_together([user(&rules)]);
        let stances = Mode::ALL.map(|mode| judged(&rules.in_mode(mode), &intent));
        prop_assert!(stances.is_sorted(), "{stances:?}");
    }

    /// No rules permit a switch to a looser mode without a question.
    #[test]
    fn a_looser_mode_is_never_silent_and_never_remembered(rules in policy(), mode in mode(), wanted in mode()) {
        let rules = put_together([user(&rules)]).in_mode(mode);
        let explained = rules.explain(&switching(wanted.as_str()), &context());
        prop_assert!(wanted >= mode || explained.effect > RuleEffect::Allow);
        prop_assert_eq!(explained.offers, []);
    }

    #[test]
    fn wrapping_never_lowers_a_verdict(
        rules in policy(),
        mode in mode(),
        text in select(COMMANDS),
        wrappers in prop::collection::vec(select(WRAPPERS), 1..9),
    ) {
        let rules = put_together([user(&rules)]).in_mode(mode);
        let all = wrappers.iter().fold(text.to_owned(), |text, wrapper| wrapped(&text, wrapper));
        let (bare, inside) = (judged(&rules, &command(text)), judged(&rules, &command(&all)));
        prop_assert!(inside >= bare, "{text}: {bare:?}, {all}: {inside:?}");
    }

    /// Every intent is judged, and the rules offered for it parse as themselves.
    #[test]
    fn nothing_is_too_odd_to_be_judged(
        program in select(&["sed", "awk", "git", "grep", "find", "curl", "tar", "env", "sh", "x", "é"][..]),
        words in prop::collection::vec(odd_word(), 0..5),
        path in odd_word(),
        rules in policy(),
        mode in mode(),
    ) {
        let argv: Vec<String> = std::iter::once(program.to_owned()).chain(words).collect();
        let text = quoted(argv.iter().map(String::as_str));
        let parts = vec![Part::new(argv, in_root("é"))];
        let run = Command::new(text, ROOT, Reading::Understood(parts));
        let intent = touching(Touch::Runs(run))
            .touching(Touch::Writes(in_root(&path)))
            .touching(Touch::Reaches(path.into()));
        let rules = put_together([user(&rules)]).in_mode(mode);
        let explained = rules.explain(&intent, &context());
        prop_assert_eq!(explained.effect, judged(&rules, &intent));
        for offer in explained.offers {
            prop_assert!(PolicyRule::from_text(&offer.text, RuleEffect::Allow, None).is_ok());
        }
    }

    #[test]
    fn folded_spellings_are_the_names(
        name in select(&[".git", ".vscode", ".env", "AGENTS.md", ".npmrc", ".toolcall", ".bashrc"][..]),
        upper in prop::collection::vec(any::<bool>(), 10),
        wide in prop::collection::vec(any::<bool>(), 10),
        hidden in subsequence(vec!['\u{200b}', '\u{200c}', '\u{feff}', '\u{e0041}', '\u{ad}'], 0..3),
        at in 0usize..4,
        tail in select(&["", ".", " ", "...", ". ", ":x", "::$DATA"][..]),
        policy in policy(),
        verb in 0..3,
    ) {
        let mut spelled: Vec<char> = name.chars().enumerate().map(|(at, c)| spell(c, upper[at], wide[at])).collect();
        for c in hidden {
            spelled.insert(at.min(spelled.len()), c);
        }
        let spelled = spelled.into_iter().collect::<String>() + tail;
        let rules = put_together([user(&policy)]).in_mode(Mode::AllowAll);
        let effect_of = |name: &str| {
            let path = in_root("sub").join(name).join("x");
            judged(&rules, &touching(match verb {
                0 => Touch::Reads(path),
                1 => Touch::Writes(path),
                _ => Touch::Deletes(path),
            }))
        };
        prop_assert!(effect_of(&spelled) >= effect_of(name), "{spelled:?}");
    }
}

fn spell(c: char, upper: bool, wide: bool) -> char {
    let c = if upper { c.to_ascii_uppercase() } else { c };
    if wide && c.is_ascii_alphabetic() {
        char::from_u32(u32::from(c) - 0x21 + 0xff01).unwrap_or(c)
    } else {
        c
    }
}

/// A denied command stays denied behind more wrappers than one call of `unwrapped` handles.
#[test]
fn deep_wrapping_hides_nothing() {
    let rules = put_together([user(&[
        "[[allow]]\nrun = ['env', 'sh', 'touch']\n".to_owned()
    ])]);
    for depth in [1, 6, 7, 13, 40] {
        let text = format!("{}touch .git/hooks/x", "env ".repeat(depth));
        assert_eq!(judged(&rules, &command(&text)), RuleEffect::Deny, "{depth}");
        let beside = format!("sh -c {}", quoted([format!("{text}; ls").as_str()]));
        assert_eq!(
            judged(&rules, &command(&beside)),
            RuleEffect::Deny,
            "{depth} beside another"
        );
    }
    let many = format!("sh -c '{}touch .git/x'", "true; ".repeat(63));
    assert_eq!(judged(&rules, &command(&many)), RuleEffect::Deny);
}
