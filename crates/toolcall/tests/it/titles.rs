//! Titles of calls, and guarantees for any name and input.
//! It must not check kinds: they are arguments here.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcall::text::{clean_block, clean_command, clean_line, is_hidden};
use toolcall::{Kind, arguments, kind, title};
use unicode_segmentation::UnicodeSegmentation as _;

fn check(name: &str, kind: Kind, input: Value, expected: Expect) {
    expected.assert_eq(&title::infer(name, kind, Some(&input)));
}

#[test]
fn reading_names_file_and_lines() {
    let read = |input, expected| check("read_file", Kind::Read, input, expected);
    read(json!({"path": "src/main.rs"}), expect!["Read src/main.rs"]);
    read(
        json!({"path": "src/main.rs", "line": 10, "limit": 21}),
        expect!["Read src/main.rs (lines 10–30)"],
    );
    read(
        json!({"path": "src/main.rs", "start_line": 10, "end_line": 30}),
        expect!["Read src/main.rs (lines 10–30)"],
    );
    read(
        json!({"file_path": "src/main.rs", "offset": 10, "limit": 21}),
        expect!["Read src/main.rs (lines 10–30)"],
    );
    read(
        json!({"path": "src/main.rs", "view_range": [10, -1]}),
        expect!["Read src/main.rs (from line 10)"],
    );
    read(
        json!({"path": "src/main.rs", "limit": 20}),
        expect!["Read src/main.rs (first 20 lines)"],
    );
    read(
        json!({"path": "src/main.rs", "tail": 5}),
        expect!["Read src/main.rs (last 5 lines)"],
    );
    read(
        json!({"path": "a", "line": u64::MAX, "limit": u64::MAX}),
        expect!["Read a (line 18446744073709551615)"],
    );
    read(
        json!({"paths": ["a.rs", "b.rs", "c.rs"]}),
        expect!["Read a.rs and 2 more"],
    );
    read(
        json!({"files": [{"path": "a.rs"}, {"path": "b.rs"}]}),
        expect!["Read a.rs and 1 more"],
    );
    check(
        "get_issue",
        Kind::Read,
        json!({"issue_number": 3, "repo": "toolcall"}),
        expect!["Calling get_issue: toolcall"],
    );
}

#[test]
fn searching_names_what_and_where() {
    let search = |input, expected| check("grep", Kind::Search, input, expected);
    search(
        json!({"pattern": "TODO", "path": "src", "glob": "*.rs"}),
        expect![[r#"Search "TODO" in src (*.rs)"#]],
    );
    search(json!({"query": "TODO"}), expect![[r#"Search "TODO""#]]);
    search(
        json!({"glob": "**/*.rs", "path": "src"}),
        expect!["Search **/*.rs in src"],
    );
    check(
        "web_search",
        Kind::Fetch,
        json!({"query": "rust"}),
        expect![[r#"Search the web for "rust""#]],
    );
}

#[test]
fn a_command_is_its_own_title() {
    let run = |input, expected| check("terminal", Kind::Execute, input, expected);
    run(
        json!({"command": "cargo test -p toolcall", "cwd": "/w"}),
        expect!["cargo test -p toolcall"],
    );
    run(
        json!({"command": "echo a\nrm -rf b"}),
        expect!["echo a ⏎ rm -rf b"],
    );
    run(
        json!({"command": ["bash", "-lc", "ls -l"]}),
        expect!["bash -lc 'ls -l'"],
    );
    run(
        json!({"command": "echo \u{202e}txt.exe\u{200b}"}),
        expect![[r#"echo \u{202e}txt.exe\u{200b}"#]],
    );
    run(
        json!({"command": ["echo", "it's"]}),
        expect![[r"echo 'it'\''s'"]],
    );
    run(json!({"command": " \n"}), expect!["Calling terminal:  "]);
    run(
        json!({"target": "build"}),
        expect!["Calling terminal: build"],
    );
}

#[test]
fn changes_name_their_files() {
    let both = json!({"source": "a.rs", "destination": "b.rs"});
    check(
        "edit_file",
        Kind::Edit,
        json!({"path": "a.rs", "edits": [{}]}),
        expect!["Edit a.rs"],
    );
    check(
        "write_file",
        Kind::Edit,
        json!({"path": "a.rs", "content": "x"}),
        expect!["Write a.rs"],
    );
    check(
        "delete_file",
        Kind::Delete,
        json!({"path": "a.rs"}),
        expect!["Delete a.rs"],
    );
    check("move_file", Kind::Move, both, expect!["Move a.rs to b.rs"]);
}

#[test]
fn everything_else_says_something() {
    check(
        "fetch",
        Kind::Fetch,
        json!({"url": "https://example.com"}),
        expect!["Fetch https://example.com"],
    );
    check(
        "thinking",
        Kind::Think,
        json!({"thought": "first\nthis"}),
        expect!["Think: first this"],
    );
    check(
        "todo_write",
        Kind::Think,
        json!({"todos": [{}, {}]}),
        expect!["Plan: 2 steps"],
    );
    check(
        "switch_mode",
        Kind::SwitchMode,
        json!({"mode": "plan"}),
        expect!["Switch mode to plan"],
    );
    let code = json!({"code": "let a = 1;\nlet b = 2;", "language": "typescript"});
    check(
        "analyze_code",
        Kind::Other,
        code,
        expect!["Calling analyze_code: typescript"],
    );
    check(
        "login",
        Kind::Other,
        json!({"api_key": "hush", "password": "hush"}),
        expect!["Calling login"],
    );
    check("ping", Kind::Other, json!(null), expect!["Calling ping"]);
    check(
        "\u{202e}gnip",
        Kind::Other,
        json!(["x"]),
        expect![[r#"Calling \u{202e}gnip"#]],
    );
}

#[test]
fn long_texts_are_cut() {
    let long = "é".repeat(10_000_000);
    let title = title::infer("run", Kind::Execute, Some(&json!({"command": long})));
    assert_eq!(title.graphemes(true).count(), title::LONGEST);
    assert!(title.ends_with('…'));
}

/// Characters that often cause bugs, and any others.
fn hostile_char() -> impl Strategy<Value = char> {
    let hidden = "\0\u{1b}\r\n\t\u{7f}\u{85}\u{ad}\u{200b}\u{200d}\u{202e}\u{2066}\u{2028}\u{fe0f}\u{feff}\u{e0041}\u{e000}";
    let visible = "a \u{301}é👩🇩🇪각/\\.{}\"";
    let chosen: Vec<char> = hidden.chars().chain(visible.chars()).collect();
    prop_oneof![prop::sample::select(chosen), any::<char>()]
}

fn hostile_text() -> impl Strategy<Value = String> {
    prop::collection::vec(hostile_char(), 0..200).prop_map(String::from_iter)
}

const KEYS: &str = "path paths files uri from to line limit offset view_range command query glob \
    url content old_string new_string edits thought todos action mode name csv_path prompt code";

fn hostile_key() -> impl Strategy<Value = String> {
    let known: Vec<&str> = KEYS.split(' ').collect();
    prop_oneof![
        prop::sample::select(known).prop_map(str::to_owned),
        hostile_text()
    ]
}

fn hostile_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        hostile_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let object = prop::collection::vec((hostile_key(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            object.prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

proptest! {
    #[test]
    fn lines_are_visible_and_short(text in hostile_text(), max in 0_usize..60) {
        for line in [clean_line(&text, max), clean_command(&text, max)] {
            prop_assert!(!line.chars().any(is_hidden), "{line:?}");
            prop_assert!(line.graphemes(true).count() <= max, "{line:?}");
        }
    }

    #[test]
    fn blocks_are_visible(text in hostile_text()) {
        let hides = |c: char| is_hidden(c) && c != '\n' && c != '\t';
        prop_assert!(!clean_block(&text).chars().any(hides));
    }

    #[test]
    fn titles_are_visible_and_short(
        name in hostile_text(),
        kind in prop::sample::select(&Kind::ALL[..]),
        input in hostile_json(),
    ) {
        let title = title::infer(&name, kind, Some(&input));
        prop_assert!(!title.is_empty());
        prop_assert!(!title.chars().any(is_hidden), "{title:?}");
        prop_assert!(title.graphemes(true).count() <= title::LONGEST);
    }

    #[test]
    fn nothing_panics(name in hostile_text(), input in hostile_json(), schema in hostile_json()) {
        let (input, schema) = (Some(&input), Some(&schema));
        kind::infer(&kind::Evidence { name: &name, schema, input, ..Default::default() });
        let absolute = |at: &toolcall::Location| at.path.is_absolute() && at.line != Some(0);
        prop_assert!(arguments::locations(input).iter().all(absolute));
        arguments::paths(input);
    }
}
