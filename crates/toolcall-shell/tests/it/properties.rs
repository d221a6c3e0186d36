//! Properties of every text: reading, unwrapping and searching never panic and never miss a program.
//! Nothing is run here.

use proptest::collection::vec;
use proptest::prelude::*;
use toolcall::{Part, Reading};
use toolcall_shell::{Words, quoted, read, touches, unwrapped};

/// Texts that look like command lines, and some that do not.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{1,4}".boxed(),
        3 => proptest::sample::select(PIECES).prop_map(str::to_owned).boxed(),
        1 => any::<char>().prop_map(String::from).boxed(),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

const PIECES: &[&str] = &[
    " ",
    "  ",
    "'",
    "\"",
    "\\",
    "$",
    "`",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "*",
    "?",
    "~",
    "#",
    "!",
    "=",
    "&",
    "&&",
    "|",
    "||",
    ";",
    "<",
    ">",
    ">>",
    "<<",
    "2>&1",
    "2>",
    "1",
    "\n",
    "\t",
    "cd ",
    "/dev/null",
    "sh -c ",
    "env ",
    "if ",
    "$'",
    "\\x72",
    "..",
    "/",
    "-c",
    "\u{a0}",
    "\u{202e}",
];

/// A word without hidden characters.
fn any_word() -> impl Strategy<Value = String> {
    let visible = |text: String| text.replace(toolcall::text::is_hidden, "");
    prop_oneof![
        "[a-z]{1,6}",
        "[ -~\n\t]{0,12}",
        "\\PC{0,8}".prop_map(visible)
    ]
}

fn understood(text: &str) -> Option<Vec<Part>> {
    match read(text, "/w".as_ref()) {
        Reading::Understood(parts) => Some(parts),
        Reading::Unclear(_) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_fail(text in any_text()) {
        let reading = read(&text, "/w".as_ref());
        touches(&reading);
        Words::of(&text).contains(&["rm"]);
        for part in understood(&text).into_iter().flatten() {
            prop_assert!(!part.argv.is_empty());
            prop_assert_eq!(&unwrapped(&part).parts[0], &part);
        }
    }

    #[test]
    fn quoted_words_are_read_as_they_are(name in "[a-z]{1,5}-[a-z]{1,5}", words in vec(any_word(), 0..6)) {
        let argv: Vec<String> = std::iter::once(name).chain(words).collect();
        let text = quoted(argv.iter().map(String::as_str));
        prop_assert_eq!(understood(&text), Some(vec![Part::new(argv, "/w")]), "{}", text);
    }

    #[test]
    fn every_word_of_an_understood_text_is_found(text in any_text()) {
        let words = Words::of(&text);
        for part in understood(&text).into_iter().flatten() {
            let argv: Vec<_> = part.argv.iter().map(String::as_str).collect();
            prop_assert!(words.contains(&argv), "{:?} hides {:?}", text, argv);
        }
    }

    #[test]
    fn wrapping_hides_no_word(text in any_text(), wraps in vec(any_wrap(), 1..5)) {
        let text = format!("{text} ; victim x");
        let wrapped = wraps.iter().fold(text, |text, wrap| wrap.around(&text));
        prop_assert!(Words::of(&wrapped).contains(&["victim"]), "{}", wrapped);
    }

    #[test]
    fn wrapping_hides_no_program(wraps in vec(any_wrap(), 0..9)) {
        let wrapped = wraps.iter().fold("victim x".to_owned(), |text, wrap| wrap.around(&text));
        let parts = understood(&wrapped).unwrap_or_default();
        let is_seen = parts.iter().map(unwrapped).any(|found| {
            found.unclear.is_some() || found.parts.iter().any(|part| part.argv == ["victim", "x"])
        });
        prop_assert!(parts.is_empty() || is_seen, "{}", wrapped);
    }
}

/// A way to run a text through another program.
#[derive(Clone, Copy, Debug)]
enum Wrap {
    /// Words before it.
    Before(&'static str),
    /// A shell that gets it as one word.
    Shell(&'static str),
}

impl Wrap {
    fn around(self, text: &str) -> String {
        match self {
            Wrap::Before(words) => format!("{words} {text}"),
            Wrap::Shell(words) => format!("{words} {}", quoted([text])),
        }
    }
}

fn any_wrap() -> impl Strategy<Value = Wrap> {
    let before = [
        "env",
        "/usr/bin/env -i",
        "sudo -u root",
        "doas",
        "nice -n 3",
        "nohup",
        "timeout 5",
        "timeout -k 1 5",
        "stdbuf -oL",
        "setsid",
        "ionice -c 3",
        "xargs",
        "xargs -n1",
        "busybox",
        "strace -f",
        "env A=b",
        "find . -exec",
    ];
    let shells = ["sh -c", "bash -lc", "/bin/sh -e -c", "watch", "dash -c"];
    prop_oneof![
        proptest::sample::select(before.to_vec()).prop_map(Wrap::Before),
        proptest::sample::select(shells.to_vec()).prop_map(Wrap::Shell),
    ]
}
