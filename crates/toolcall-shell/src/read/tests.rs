//! Texts and their readings, in tables.
//! Nothing is run here.

use std::collections::BTreeSet;
use std::fmt::Write;

use expect_test::{Expect, expect};
use serde_json::Value;
use toolcall::{Join, Redirect, Stream};

use super::*;

fn check(texts: &[&str], expect: Expect) {
    let mut all = String::new();
    for text in texts {
        writeln!(all, "{text:?} → {}", shown(&read(text, "/w".as_ref()))).unwrap();
    }
    expect.assert_eq(&all);
}

fn shown(reading: &Reading) -> String {
    match reading {
        Reading::Unclear(why) => format!("unclear: {why}"),
        Reading::Understood(parts) => parts.iter().map(shown_part).collect::<Vec<_>>().join(" "),
    }
}

fn shown_part(part: &Part) -> String {
    let join = match part.join {
        Join::Then => ";",
        Join::And => "&&",
        Join::Or => "||",
        Join::Pipe => "|",
    };
    let redirects: String = part.redirects.iter().map(shown_redirect).collect();
    format!("{join} {}{:?}{redirects}", part.cwd.display(), part.argv)
}

fn shown_redirect(redirect: &Redirect) -> String {
    let stream = match redirect.stream {
        Stream::Input => 0,
        Stream::Output => 1,
        Stream::Error => 2,
    };
    format!(" {stream}:{:?}", redirect.target)
}

#[test]
fn plain_and_quoted_words_are_understood() {
    check(
        &[
            "ls",
            "  ls   -la  ",
            "echo 'a b' \"c d\" e'f'\"g\" '' \"\"",
            "git show HEAD^ HEAD~1 a#b",
            "make CC=gcc -j4 @x +y %z",
            "echo 'a\nb\tc'",
            "echo '$x `y` \\ * ? [z] {a,b} ~ # ! ; & | < >'",
            "echo \"* ? [z] {a,b} ~ # ! ; & | < > 'x'\"",
            "echo Grüße 日本",
            "'git' \"log\"",
        ],
        expect![[r#"
            "ls" → ; /w["ls"]
            "  ls   -la  " → ; /w["ls", "-la"]
            "echo 'a b' \"c d\" e'f'\"g\" '' \"\"" → ; /w["echo", "a b", "c d", "efg", "", ""]
            "git show HEAD^ HEAD~1 a#b" → ; /w["git", "show", "HEAD^", "HEAD~1", "a#b"]
            "make CC=gcc -j4 @x +y %z" → ; /w["make", "CC=gcc", "-j4", "@x", "+y", "%z"]
            "echo 'a\nb\tc'" → ; /w["echo", "a\nb\tc"]
            "echo '$x `y` \\ * ? [z] {a,b} ~ # ! ; & | < >'" → ; /w["echo", "$x `y` \\ * ? [z] {a,b} ~ # ! ; & | < >"]
            "echo \"* ? [z] {a,b} ~ # ! ; & | < > 'x'\"" → ; /w["echo", "* ? [z] {a,b} ~ # ! ; & | < > 'x'"]
            "echo Grüße 日本" → ; /w["echo", "Grüße", "日本"]
            "'git' \"log\"" → ; /w["git", "log"]
        "#]],
    );
}

#[test]
fn joined_commands_are_understood() {
    check(
        &[
            "a && b || c ; d | e",
            "a&&b||c;d|e",
            "a;",
            "a ; ",
            "a 2>&1|b",
            "a | b | c && d",
        ],
        expect![[r#"
            "a && b || c ; d | e" → ; /w["a"] && /w["b"] || /w["c"] ; /w["d"] | /w["e"]
            "a&&b||c;d|e" → ; /w["a"] && /w["b"] || /w["c"] ; /w["d"] | /w["e"]
            "a;" → ; /w["a"]
            "a ; " → ; /w["a"]
            "a 2>&1|b" → ; /w["a"] 2:Stream(Output) | /w["b"]
            "a | b | c && d" → ; /w["a"] | /w["b"] | /w["c"] && /w["d"]
        "#]],
    );
}

#[test]
fn redirects_are_understood() {
    check(
        &[
            "a >/dev/null 2>&1",
            "a 2>/dev/null </dev/null",
            "a > out",
            "a >>'o u t' b",
            "a 2>err <in",
            "a 1>x 0<y 2>>/abs/z",
            "a x2>y",
            "a >1",
        ],
        expect![[r#"
            "a >/dev/null 2>&1" → ; /w["a"] 1:Null 2:Stream(Output)
            "a 2>/dev/null </dev/null" → ; /w["a"] 2:Null 0:Null
            "a > out" → ; /w["a"] 1:File { path: "/w/out", access: Replace }
            "a >>'o u t' b" → ; /w["a", "b"] 1:File { path: "/w/o u t", access: Append }
            "a 2>err <in" → ; /w["a"] 2:File { path: "/w/err", access: Replace } 0:File { path: "/w/in", access: Read }
            "a 1>x 0<y 2>>/abs/z" → ; /w["a"] 1:File { path: "/w/x", access: Replace } 0:File { path: "/w/y", access: Read } 2:File { path: "/abs/z", access: Append }
            "a x2>y" → ; /w["a", "x2"] 1:File { path: "/w/y", access: Replace }
            "a >1" → ; /w["a"] 1:File { path: "/w/1", access: Replace }
        "#]],
    );
}

#[test]
fn cd_changes_the_directory_of_what_needs_it() {
    check(
        &[
            "cd src && ls | cat && make",
            "cd /tmp && ls",
            "cd .. && cd x/./y && ls > z",
            "cd a && ls && cd .. && ls",
            "make; cd a && ls",
            "make && cd a && ls",
            "a || b && cd c && d",
            // Not so: the directory would depend on how something ends, or `cd` is not a command of its own.
            "cd src",
            "cd src; ls",
            "cd src || ls",
            "cd src && ls; pwd",
            "cd src && ls || pwd",
            "a || cd src && ls",
            "a | cd src && ls",
            "cd src | ls",
            "cd src > x && ls",
            "cd && ls",
            "cd - && ls",
            "cd '' && ls",
            "cd a b && ls",
            "cd a/../b && ls",
            "cd //a && ls",
            "cd a && cd .. && ls",
            "cd a && cd /b && ls",
        ],
        expect![[r#"
            "cd src && ls | cat && make" → ; /w/src["ls"] | /w/src["cat"] && /w/src["make"]
            "cd /tmp && ls" → ; /tmp["ls"]
            "cd .. && cd x/./y && ls > z" → ; /x/y["ls"] 1:File { path: "/x/y/z", access: Replace }
            "cd a && ls && cd .. && ls" → ; /w/a["ls"] && /w["ls"]
            "make; cd a && ls" → ; /w["make"] ; /w/a["ls"]
            "make && cd a && ls" → ; /w["make"] && /w/a["ls"]
            "a || b && cd c && d" → ; /w["a"] || /w["b"] && /w/c["d"]
            "cd src" → unclear: `cd` that is not just followed by `&&` at byte 0
            "cd src; ls" → unclear: `cd` that is not just followed by `&&` at byte 0
            "cd src || ls" → unclear: `cd` that is not just followed by `&&` at byte 0
            "cd src && ls; pwd" → unclear: a command that runs elsewhere if the `cd` before it fails at byte 14
            "cd src && ls || pwd" → unclear: a command that runs elsewhere if the `cd` before it fails at byte 16
            "a || cd src && ls" → unclear: `cd` that is not just followed by `&&` at byte 5
            "a | cd src && ls" → unclear: `cd` that is not just followed by `&&` at byte 4
            "cd src | ls" → unclear: `cd` that is not just followed by `&&` at byte 0
            "cd src > x && ls" → unclear: `cd` that is not just followed by `&&` at byte 0
            "cd && ls" → unclear: `cd` without exactly one directory at byte 0
            "cd - && ls" → unclear: `cd` to a place that is not plain at byte 0
            "cd '' && ls" → unclear: `cd` to a place that is not plain at byte 0
            "cd a b && ls" → unclear: `cd` without exactly one directory at byte 0
            "cd a/../b && ls" → unclear: `cd` down and up again at byte 0
            "cd //a && ls" → unclear: `cd` to a place that is not plain at byte 0
            "cd a && cd .. && ls" → unclear: `cd` through a directory to another at byte 8
            "cd a && cd /b && ls" → unclear: `cd` through a directory to another at byte 8
        "#]],
    );
}

#[test]
fn what_a_shell_would_expand_is_unclear() {
    check(
        &[
            "echo $x",
            "echo \"$x\"",
            "echo $(x)",
            "echo `x`",
            "echo \"`x`\"",
            "echo \\x",
            "echo \"\\x\"",
            "echo $'x'",
            "echo *",
            "echo a?",
            "echo [a]",
            "echo {a,b}",
            "echo ~",
            "echo a:~ b=~",
            "echo ~root",
            "echo 'a'~",
        ],
        expect![[r#"
            "echo $x" → unclear: an expansion (`$`) at byte 5
            "echo \"$x\"" → unclear: an expansion (`$`) at byte 6
            "echo $(x)" → unclear: an expansion (`$`) at byte 5
            "echo `x`" → unclear: a substitution (```) at byte 5
            "echo \"`x`\"" → unclear: a substitution (```) at byte 6
            "echo \\x" → unclear: a backslash (`\`) at byte 5
            "echo \"\\x\"" → unclear: a backslash (`\`) at byte 6
            "echo $'x'" → unclear: an expansion (`$`) at byte 5
            "echo *" → unclear: a pattern (`*`) at byte 5
            "echo a?" → unclear: a pattern (`?`) at byte 6
            "echo [a]" → unclear: a pattern (`[`) at byte 5
            "echo {a,b}" → unclear: a brace (`{`) at byte 5
            "echo ~" → unclear: a home directory (`~`) at byte 5
            "echo a:~ b=~" → unclear: a home directory (`~`) at byte 7
            "echo ~root" → unclear: a home directory (`~`) at byte 5
            "echo 'a'~" → unclear: a home directory (`~`) at byte 8
        "#]],
    );
}

#[test]
fn what_is_no_simple_command_is_unclear() {
    check(
        &[
            "",
            "  ",
            ";",
            "a &",
            "a & b",
            "a && ",
            "&& a",
            "a ;; b",
            "a |& b",
            "a &&& b",
            "a\nb",
            "a\n",
            "a\rb",
            "a # b",
            "(a)",
            "f() { a; }",
            "{ a; }",
            "! a",
            "x=1",
            "x=1 a",
            "if a; then b; fi",
            "time a",
            "[ -f a ]",
            "[[ -f a ]]",
            "eval a",
            ". a",
            "exec a",
            "'eval' a",
            "'' a",
            "%1",
            "- a",
            "+a",
            "a 'b",
            "a \"b",
        ],
        expect![[r#"
            "" → unclear: no command at byte 0
            "  " → unclear: no command at byte 0
            ";" → unclear: an operator without a command before it at byte 0
            "a &" → unclear: `&` (a background command) at byte 2
            "a & b" → unclear: `&` (a background command) at byte 2
            "a && " → unclear: an operator without a command after it at byte 2
            "&& a" → unclear: an operator without a command before it at byte 0
            "a ;; b" → unclear: an operator that is not understood at byte 2
            "a |& b" → unclear: an operator that is not understood at byte 2
            "a &&& b" → unclear: an operator that is not understood at byte 2
            "a\nb" → unclear: a line break at byte 1
            "a\n" → unclear: a line break at byte 1
            "a\rb" → unclear: a line break at byte 1
            "a # b" → unclear: a comment (`#`) at byte 2
            "(a)" → unclear: a subshell or function (`(`) at byte 0
            "f() { a; }" → unclear: a subshell or function (`(`) at byte 1
            "{ a; }" → unclear: a brace (`{`) at byte 0
            "! a" → unclear: a negation (`!`) at byte 0
            "x=1" → unclear: an assignment before a command at byte 0
            "x=1 a" → unclear: an assignment before a command at byte 0
            "if a; then b; fi" → unclear: the reserved word `if` at byte 0
            "time a" → unclear: the reserved word `time` at byte 0
            "[ -f a ]" → unclear: a pattern (`[`) at byte 0
            "[[ -f a ]]" → unclear: a pattern (`[`) at byte 0
            "eval a" → unclear: the shell's own command `eval` at byte 0
            ". a" → unclear: the shell's own command `.` at byte 0
            "exec a" → unclear: the shell's own command `exec` at byte 0
            "'eval' a" → unclear: the shell's own command `eval` at byte 0
            "'' a" → unclear: a program without a plain name at byte 0
            "%1" → unclear: a program without a plain name at byte 0
            "- a" → unclear: a program without a plain name at byte 0
            "+a" → unclear: a program without a plain name at byte 0
            "a 'b" → unclear: a quote that is not closed at byte 2
            "a \"b" → unclear: a quote that is not closed at byte 2
        "#]],
    );
}

#[test]
fn other_redirects_are_unclear() {
    check(
        &[
            "a >&2",
            "a 1>&2",
            "a 2>&12",
            "a 2>&1x",
            "a 2>& 1",
            "a 2>&1<b",
            "a 2>&-",
            "a &>b",
            "a >|b",
            "a <>b",
            "a <<b",
            "a <<<b",
            "a <(b)",
            "a > >(b)",
            "a 3>b",
            "a 01>b",
            "a 1<b",
            "a >",
            "a > > b",
            "> b",
            "a; > b",
            "a > ''",
            "a > ../b",
            "a > /dev/tcp/host/80",
            "a > /dev/stdout",
            "a < /proc/self/mem",
            "a > $b",
            "a > 1<b",
        ],
        expect![[r#"
            "a >&2" → unclear: a redirect that is not understood at byte 2
            "a 1>&2" → unclear: a redirect that is not understood at byte 3
            "a 2>&12" → unclear: a redirect that is not understood at byte 6
            "a 2>&1x" → unclear: a redirect that is not understood at byte 6
            "a 2>& 1" → unclear: a redirect that is not understood at byte 3
            "a 2>&1<b" → unclear: a redirect that is not understood at byte 6
            "a 2>&-" → unclear: a redirect that is not understood at byte 3
            "a &>b" → unclear: `&` (a background command) at byte 2
            "a >|b" → unclear: a redirect that is not understood at byte 2
            "a <>b" → unclear: a redirect that is not understood at byte 2
            "a <<b" → unclear: a redirect that is not understood at byte 2
            "a <<<b" → unclear: a redirect that is not understood at byte 2
            "a <(b)" → unclear: a redirect that is not understood at byte 2
            "a > >(b)" → unclear: a redirect that is not understood at byte 4
            "a 3>b" → unclear: a redirect of another stream at byte 3
            "a 01>b" → unclear: a redirect of another stream at byte 4
            "a 1<b" → unclear: a redirect of another stream at byte 3
            "a >" → unclear: a redirect without a file at byte 2
            "a > > b" → unclear: a redirect without a file at byte 2
            "> b" → unclear: an operator without a command before it at byte 0
            "a; > b" → unclear: an operator without a command before it at byte 3
            "a > ''" → unclear: a redirect to a place that is not plain at byte 0
            "a > ../b" → unclear: a redirect to a place that is not plain at byte 0
            "a > /dev/tcp/host/80" → unclear: a redirect to a device at byte 0
            "a > /dev/stdout" → unclear: a redirect to a device at byte 0
            "a < /proc/self/mem" → unclear: a redirect to a device at byte 0
            "a > $b" → unclear: an expansion (`$`) at byte 4
            "a > 1<b" → unclear: a redirect of another stream at byte 5
        "#]],
    );
}

#[test]
fn hidden_characters_are_unclear() {
    check(
        &[
            "a\tb",
            "a\u{a0}b",
            "a\u{3000}b",
            "a\u{200b}b",
            "'a\u{202e}b' c",
            "c 'a\u{202e}b'",
            "c \"a\u{1b}[2J\"",
            "c 'a\0b'",
            "c a\u{e0041}",
            "c a\u{7f}",
        ],
        expect![[r#"
            "a\tb" → unclear: a hidden character (`\u{9}`) at byte 1
            "a\u{a0}b" → unclear: a hidden character (`\u{a0}`) at byte 1
            "a\u{3000}b" → unclear: a hidden character (`\u{3000}`) at byte 1
            "a\u{200b}b" → unclear: a hidden character (`\u{200b}`) at byte 1
            "'a\u{202e}b' c" → unclear: a hidden character (`\u{202e}`) at byte 2
            "c 'a\u{202e}b'" → unclear: a hidden character (`\u{202e}`) at byte 4
            "c \"a\u{1b}[2J\"" → unclear: a hidden character (`\u{1b}`) at byte 4
            "c 'a\0b'" → unclear: a hidden character (`\u{0}`) at byte 4
            "c a\u{e0041}" → unclear: a hidden character (`\u{e0041}`) at byte 3
            "c a\u{7f}" → unclear: a hidden character (`\u{7f}`) at byte 3
        "#]],
    );
}

#[test]
fn texts_beyond_the_limits_are_unclear() {
    let long = format!("echo {}", "a".repeat(MAX_TEXT_LEN));
    let many = vec!["a"; MAX_PARTS + 1].join(";");
    let shown = [&long, &many].map(|text| shown(&read(text, "/w".as_ref())));
    assert_eq!(
        shown,
        [
            "unclear: a text that is too long at byte 16384",
            "unclear: one program too many at byte 128",
        ]
    );
    assert_eq!(
        read("a", "w".as_ref()),
        Reading::Unclear("a directory that is not absolute at byte 0".into())
    );
}

#[test]
fn readers_that_differ_understand_nothing() {
    let command = |word: &str| SimpleCommand {
        join: Join::Then,
        words: vec![word.into()],
        redirects: Vec::new(),
    };
    let ours = [(0, command("a")), (2, command("b"))];
    let agrees = |second| check_agreement(&ours, second).map_err(|ambiguity| ambiguity.to_string());
    assert_eq!(agrees(Some(vec![command("a"), command("b")])), Ok(()));
    let differently = Err("a command that two readers read differently at byte 2".to_owned());
    assert_eq!(agrees(Some(vec![command("a"), command("c")])), differently);
    assert_eq!(agrees(Some(vec![command("a")])), differently);
    let one_more = Some(vec![command("a"), command("b"), command("c")]);
    assert_eq!(
        agrees(one_more),
        Err("a command that only one reader sees at byte 0".into())
    );
    assert!(agrees(None).is_err());
}

#[test]
fn redirects_to_files_are_touches() {
    let reading = read("a <x >y 2>>z; b >/dev/null 2>&1", "/w".as_ref());
    let paths = |path: &str| Path::new("/w").join(path);
    let expected = [
        Touch::Reads(paths("x")),
        Touch::Writes(paths("y")),
        Touch::Writes(paths("z")),
    ];
    assert_eq!(touches(&reading), expected);
    assert_eq!(touches(&Reading::Unclear("why".into())), []);
}

/// For every kind of ambiguity a text that shows why it is needed, or why no text can.
fn refused() -> impl Iterator<Item = Value> {
    let lines = include_str!("../../tests/it/differential/refused.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn every_kind_of_ambiguity_has_a_use() {
    let listed = refused().map(|row| row["reason"].as_str().unwrap().to_owned());
    let all = AmbiguityKind::ALL
        .iter()
        .map(|kind| kind.message().to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), all.collect());
}

/// Each of these texts is unclear for the listed reason.
#[test]
fn refused_texts_are_refused_for_their_reason() {
    for row in refused() {
        let (Some(text), Some(reason)) = (row["text"].as_str(), row["reason"].as_str()) else {
            continue;
        };
        let why = shown(&read(text, "/w".as_ref()));
        assert!(
            why.starts_with(&format!("unclear: {reason}")),
            "{text:?}: {why}"
        );
    }
}

/// The second parser rejects ambiguous syntax on its own. The texts that it accepts are unclear because of
/// what they mean, which is checked after both parsers.
#[test]
fn the_second_parser_is_no_more_lenient() {
    let mut taken = BTreeSet::new();
    for row in refused() {
        let Some(text) = row["text"].as_str() else {
            continue;
        };
        let words = |letter: &Value| serde_json::from_value(letter["words"].clone()).unwrap();
        let letter: Vec<Vec<String>> = row["letter"]
            .as_array()
            .unwrap()
            .iter()
            .map(words)
            .collect();
        let second = brush::parse(text).unwrap_or_default();
        let second: Vec<Vec<String>> = second.into_iter().map(|command| command.words).collect();
        if second == letter {
            taken.insert(format!("{}: {text}\n", row["reason"].as_str().unwrap()));
        }
    }
    expect![[r#"
        `cd` that is not just followed by `&&`: cd sub
        a program without a plain name: %1
        a redirect to a device: copy </proc/self/cwd/in
        a redirect to a place that is not plain: show >down/../f
        the shell's own command: command show
        the shell's own command: eval show
    "#]]
    .assert_eq(&taken.into_iter().collect::<String>());
}
