//! `search_files`: what a model gets for a query.
//! Every case is a small project and the complete result.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use toolcall::{Intent, Kind, Location, SessionContext, Touch, Verdict};

use crate::tools::project::{TreeProject, run};

fn check(project: &TreeProject, input: Value, expected: Expect) {
    expected.assert_eq(&project.says("search_files", input));
}

fn check_failure(project: &TreeProject, input: Value, expected: Expect) {
    expected.assert_eq(&project.fails("search_files", input));
}

fn project() -> TreeProject {
    TreeProject::with(&[
        ("src/main.rs", "fn main() {\n    // TODO: say more\n}\n"),
        ("src/lib.rs", "// TODO\n// done\n// TODO again\n"),
        ("README.md", "Nothing to do.\n"),
    ])
}

#[test]
fn matches_are_shown_with_path_and_line() {
    let project = project();
    check(
        &project,
        json!({"query": "TODO"}),
        expect![[r#"
        3 lines match `TODO` in 2 files (3 files searched in .).
        src/lib.rs:1: // TODO
        src/lib.rs:3: // TODO again
        src/main.rs:2:     // TODO: say more"#]],
    );
    check(
        &project,
        json!({"query": "TODO", "path": "src/main.rs"}),
        expect![[r#"
            1 line matches `TODO` in 1 file (1 file searched in src/main.rs).
            src/main.rs:2:     // TODO: say more"#]],
    );
    check(
        &project,
        json!({"query": "o", "includePattern": "*.md"}),
        expect![[r#"
            1 line matches `o` in 1 file (1 file searched in .).
            README.md:1: Nothing to do."#]],
    );
    check(
        &project,
        json!({"query": "TODO", "path": "src", "includePattern": "lib.*"}),
        expect![[r#"
            2 lines match `TODO` in 1 file (1 file searched in src).
            src/lib.rs:1: // TODO
            src/lib.rs:3: // TODO again"#]],
    );
}

#[test]
fn plain_text_is_the_default_and_regex_is_an_option() {
    let project = TreeProject::with(&[("a", "f(x)\nfx\n")]);
    check(
        &project,
        json!({"query": "f(x)"}),
        expect![[r#"
        1 line matches `f(x)` in 1 file (1 file searched in .).
        a:1: f(x)"#]],
    );
    check(
        &project,
        json!({"query": "f(x)", "regex": true}),
        expect![[r#"
            1 line matches `f(x)` in 1 file (1 file searched in .).
            a:2: fx"#]],
    );
    check(
        &project,
        json!({"query": "f.*"}),
        expect![[
            r#"No line in . matches `f.*` (1 file searched; hidden, ignored and binary files are left out). The query was taken as plain text; set `regex` to true for a regular expression."#
        ]],
    );
}

#[test]
fn what_cannot_be_searched_says_what_to_do() {
    let project = project();
    check_failure(
        &project,
        json!({"query": "f(", "regex": true}),
        expect![[
            r#"the query is no valid regular expression: regex parse error: (?:f() ^ error: unclosed group; correct it, or set `regex` to false for plain text"#
        ]],
    );
    check_failure(
        &project,
        json!({"query": ""}),
        expect![[
            r#"the query is empty; say what to look for, or use find_path to find files by name"#
        ]],
    );
    check_failure(
        &project,
        json!({"query": "a\nb"}),
        expect![[
            r#"the query contains a line break, and single lines are searched; search for one of its lines"#
        ]],
    );
    check_failure(
        &project,
        json!({"query": "a", "path": "missing"}),
        expect![[r#"`/w/proj/missing` does not exist; list the folder above it to see what does"#]],
    );
    check_failure(
        &project,
        json!({"query": "a", "includePattern": "[a"}),
        expect![
            "`[a` is no valid glob pattern: unclosed character class; missing ']'; write a special character that is meant itself as `[*]`"
        ],
    );
    check_failure(
        &project,
        json!({"query": "a", "path": "src/../.."}),
        expect!["`/w` is outside the folders of this session"],
    );
    check_failure(
        &project,
        json!({"query": "a", "path": "README.md/x"}),
        expect!["`/w/proj/README.md/x` leads through what is not a folder"],
    );
}

#[test]
fn lines_around_a_match_are_shown() {
    let project = TreeProject::with(&[
        ("a", "1\n2\nneedle\n4\n5\n6\n7\nneedle\n9\n"),
        ("b", "needle\n"),
    ]);
    check(
        &project,
        json!({"query": "needle", "context": 1}),
        expect![[r#"
            3 lines match `needle` in 2 files (2 files searched in .).
            a-2- 2
            a:3: needle
            a-4- 4
            --
            a-7- 7
            a:8: needle
            a-9- 9
            --
            b:1: needle"#]],
    );
}

#[test]
fn a_long_result_is_cut_and_says_of_how_much() {
    let project = TreeProject::with(&[
        ("c", "needle\nneedle\nneedle\n"),
        ("a/z", "needle\nneedle\n"),
        ("b", "needle\n"),
        ("d", "needle\n"),
    ]);
    let project = project.showing(4);
    check(
        &project,
        json!({"query": "needle"}),
        expect![[r#"
        7 lines match `needle` in 4 files (4 files searched in .).
        a/z:1: needle
        a/z:2: needle
        b:1: needle
        c:1: needle
        (4 of 7 matching lines are shown; a longer query, `includePattern` or a `path` further down finds fewer)"#]],
    );
    let structured = project.structured("search_files", json!({"query": "needle"}));
    expect![[r#"
        {
          "matches": [
            {
              "path": "a/z",
              "line": 1,
              "text": "needle"
            },
            {
              "path": "a/z",
              "line": 2,
              "text": "needle"
            },
            {
              "path": "b",
              "line": 1,
              "text": "needle"
            },
            {
              "path": "c",
              "line": 1,
              "text": "needle"
            }
          ],
          "totalMatches": 7,
          "totalFiles": 4,
          "filesSearched": 4,
          "truncated": true
        }"#]]
    .assert_eq(&format!("{structured:#}"));
}

#[test]
fn hidden_and_ignored_files_are_left_out_unless_they_are_named() {
    let project = TreeProject::with(&[
        (".gitignore", "*.log\n!keep.log\nout/\n"),
        ("a.log", "needle\n"),
        ("keep.log", "needle\n"),
        ("sub/.gitignore", "!a.log\nkeep.log\n"),
        ("sub/a.log", "needle\n"),
        ("sub/keep.log", "needle\n"),
        ("out/x", "needle\n"),
        (".hidden/x", "needle\n"),
        (".git/x", "needle\n"),
        (".git/info/exclude", "excluded\n"),
        ("excluded", "needle\n"),
        (".ignore", "by-ignore\n!excluded-not\n"),
        ("by-ignore", "needle\n"),
    ]);
    check(
        &project,
        json!({"query": "needle"}),
        expect![[r#"
        2 lines match `needle` in 2 files (2 files searched in .).
        keep.log:1: needle
        sub/a.log:1: needle"#]],
    );
    check(
        &project,
        json!({"query": "needle", "path": "out"}),
        expect![[r#"
            1 line matches `needle` in 1 file (1 file searched in out).
            out/x:1: needle"#]],
    );
    check(
        &project,
        json!({"query": "needle", "path": ".hidden"}),
        expect![[r#"
            1 line matches `needle` in 1 file (1 file searched in .hidden).
            .hidden/x:1: needle"#]],
    );
    // The ignore files of the directories above apply here, too.
    project.write("deep/er/x.log", "needle\n");
    check(
        &project,
        json!({"query": "needle", "path": "deep/er"}),
        expect![[
            r#"No line in deep/er matches `needle` (0 files searched; hidden, ignored and binary files are left out)."#
        ]],
    );
}

#[test]
fn links_are_not_followed() {
    let project = TreeProject::with(&[("real/a", "needle\n")]);
    project.link("out", project.at("/w/outside"));
    project.link("canary", project.at("/w/outside").join("canary"));
    project.link("inside", "real");
    check(
        &project,
        json!({"query": "needle"}),
        expect![[r#"
        1 line matches `needle` in 1 file (1 file searched in .).
        real/a:1: needle"#]],
    );
    // A symlink as `path` means its target, if that is beneath the root.
    check(
        &project,
        json!({"query": "needle", "path": "inside"}),
        expect![[r#"
            1 line matches `needle` in 1 file (1 file searched in real).
            real/a:1: needle"#]],
    );
    check_failure(
        &project,
        json!({"query": "needle", "path": "out"}),
        expect![[r#"`/w/proj/out` is outside the folders of this session"#]],
    );
}

#[test]
fn what_is_no_text_is_shown_safely_or_not_at_all() {
    let project = TreeProject::new();
    project.write("binary", b"needle\0needle\n");
    project.write("latin", b"caf\xe9 needle\n");
    project.write("crlf", "needle at the end\r\nneedle\r\n");
    project.write("hidden", "needle \u{202e}\u{1b}[31m\ttab\n");
    project.write("utf16", b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0");
    project.write("odd\u{202e}name\n", "needle\n");
    let mut late = "needle\n".repeat(20_000).into_bytes();
    late.extend_from_slice(b"\0needle\n");
    project.write("late", late);
    let all = json!({"query": "needle$", "regex": true, "includePattern": "{binary,crlf,utf16}"});
    check(
        &project,
        all,
        expect![[r#"
        2 lines match `needle$` in 2 files (3 files searched in .).
        crlf:2: needle
        utf16:1: needle"#]],
    );
    let some = json!({"query": "needle", "includePattern": "{latin,hidden,odd*}"});
    check(
        &project,
        some,
        expect![[r#"
            3 lines match `needle` in 3 files (3 files searched in .).
            hidden:1: needle \u{202e}\u{1b}[31m	tab
            latin:1: caf� needle
            odd\u{202e}name\u{a}:1: needle"#]],
    );
    let late = project.structured(
        "search_files",
        json!({"query": "needle", "includePattern": "late"}),
    );
    assert_eq!(late["totalMatches"], 20_000);
}

#[test]
fn a_long_line_is_cut_around_the_match_and_between_characters() {
    let project = TreeProject::new();
    project.write("start", format!("needle{}\n", "é".repeat(1000)));
    project.write(
        "middle",
        format!("{}needle{}", "é".repeat(1001), "日".repeat(1000)),
    );
    project.write("end", format!("{}needle", "x".repeat(200_000)));
    let found = project.structured("search_files", json!({"query": "needle"}));
    for hit in found["matches"].as_array().unwrap() {
        let text = hit["text"].as_str().unwrap();
        assert!(text.contains("needle"), "{hit}");
        assert!(text.len() <= 403 + 2 * "…".len(), "{hit}");
        assert!(!text.contains('\u{fffd}'), "{hit}");
    }
    assert_eq!(found["totalFiles"], 3);
}

#[test]
fn the_answer_fits_whatever_is_found() {
    let project = TreeProject::new();
    for number in 0..300 {
        project.write(&format!("{number}"), format!("needle{}\n", "x".repeat(500)));
    }
    let outcome = project.outcome("search_files", json!({"query": "needle", "context": 10}));
    let structured = outcome.result().structured.as_ref().unwrap();
    assert_eq!(structured["totalMatches"], 300);
    assert_eq!(structured["truncated"], true);
    let shown = structured["matches"].as_array().unwrap().len();
    assert!((50..200).contains(&shown), "{shown}");
}

#[test]
fn what_a_rule_denies_is_not_shown() {
    let project = TreeProject::with(&[
        ("a", "needle\n"),
        ("secret/b", "needle\n"),
        ("c/key", "needle\n"),
        ("c/d", "needle\n"),
    ]);
    let said = project.says_without(
        &["secret", "c/key"],
        "search_files",
        json!({"query": "needle"}),
    );
    expect![[r#"
        2 lines match `needle` in 2 files (2 files searched in .). 2 paths are left out because a rule denies them.
        a:1: needle
        c/d:1: needle"#]].assert_eq(&said);
}

#[test]
fn the_intent_says_what_is_read() {
    let project = project();
    project.link("code", "src");
    let judged = Arc::new(Mutex::new(Vec::new()));
    let seen = judged.clone();
    let policy = move |intent: &Intent, _: &SessionContext| {
        seen.lock().unwrap().push(intent.clone());
        Verdict::allow("test")
    };
    let input = json!({"query": "TODO", "path": "code"});
    run(&project.engine(policy), "grep", input);
    let intent = judged.lock().unwrap().first().cloned().unwrap();
    let (src, code) = (project.root().join("src"), project.root().join("code"));
    assert_eq!(intent.title, "Search \"TODO\" in code");
    assert_eq!(intent.kind, Kind::Search);
    assert_eq!(intent.locations, [Location::file(&src)]);
    assert_eq!(intent.touches, [Touch::Reads(src), Touch::Reads(code)]);
}
