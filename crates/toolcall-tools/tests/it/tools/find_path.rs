//! `find_path`: what a model gets for a pattern.
//! Every case is a small project and the complete result.

use std::fs::File;
use std::time::{Duration, SystemTime};

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::tools::project::TreeProject;

/// Each file is newer than the one before it.
fn aged(paths: &[&str]) -> TreeProject {
    let project = TreeProject::new();
    for (age, path) in paths.iter().enumerate() {
        let path = project.write(path, "");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }
    project
}

fn check(project: &TreeProject, input: Value, expected: Expect) {
    expected.assert_eq(&project.says("find_path", input));
}

#[test]
fn the_newest_come_first() {
    let project = aged(&["b.rs", "src/c.rs", "src/deep/a.rs", "src/a.txt"]);
    check(
        &project,
        json!({"pattern": "*.rs"}),
        expect![[r#"
            3 paths in . match `*.rs`, the newest first.
            src/deep/a.rs
            src/c.rs
            b.rs"#]],
    );
    check(
        &project,
        json!({"pattern": "src/*"}),
        expect![[r#"
            3 paths in . match `src/*`, the newest first.
            src/deep/
            src/a.txt
            src/c.rs"#]],
    );
    check(
        &project,
        json!({"pattern": "**/*.{rs,txt}", "path": "src"}),
        expect![[r#"
            3 paths in src match `**/*.{rs,txt}`, the newest first.
            src/a.txt
            src/deep/a.rs
            src/c.rs"#]],
    );
    check(
        &project,
        json!({"pattern": "/*.rs"}),
        expect![[r#"
            1 path in . matches `/*.rs`.
            b.rs"#]],
    );
    check(
        &project,
        json!({"pattern": "deep"}),
        expect![[r#"
            1 path in . matches `deep`.
            src/deep/"#]],
    );
    check(
        &project,
        json!({"pattern": "*.py"}),
        expect![[
            r#"Nothing in . matches `*.py` (0 names are hidden or ignored, which are left out)."#
        ]],
    );
}

#[test]
fn a_long_result_is_cut_and_says_of_how_much() {
    let project = aged(&["1", "2", "3", "4", "5"]).showing(2);
    check(
        &project,
        json!({"pattern": "*"}),
        expect![[r#"
            5 paths in . match `*`, the newest first.
            5
            4
            (the newest 2 of 5 are shown; a longer pattern or a `path` further down finds fewer)"#]],
    );
    let structured = project.structured("find_path", json!({"pattern": "*"}));
    expect![[r#"{"paths":["5","4"],"total":5,"truncated":true}"#]]
        .assert_eq(&structured.to_string());
}

#[test]
fn what_cannot_be_searched_says_what_to_do() {
    let project = aged(&["a"]);
    let check = |input: Value, expected: Expect| {
        expected.assert_eq(&project.fails("find_path", input));
    };
    check(
        json!({"pattern": "{a"}),
        expect![
            "`{a` is no valid glob pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?); write a special character that is meant itself as `[*]`"
        ],
    );
    check(
        json!({"pattern": ""}),
        expect![[r#"the pattern is empty; `*` matches every name"#]],
    );
    check(
        json!({"pattern": "*", "path": "b"}),
        expect!["`/w/proj/b` does not exist; list the folder above it to see what does"],
    );
    check(
        json!({"pattern": "*", "path": "a"}),
        expect!["`/w/proj/a` is a file, not a folder; give the folder it is in"],
    );
}

#[test]
fn hidden_ignored_and_denied_names_are_left_out_and_links_not_followed() {
    let project = aged(&[
        ".h/x.rs",
        "ignored.rs",
        "sub/x.rs",
        "secret/x.rs",
        "sub/y.rs",
    ]);
    project.write(".gitignore", "ignored.rs\n");
    project.link("out.rs", project.at("/w/outside"));
    project.link("out", project.at("/w/outside"));
    let said = project.says_without(
        &["secret", "sub/y.rs"],
        "find_path",
        json!({"pattern": "**/{*.rs,canary}"}),
    );
    expect![[r#"
        2 paths in . match `**/{*.rs,canary}`, the newest first. 2 paths are left out because a rule denies them.
        out.rs@
        sub/x.rs"#]].assert_eq(&said);
}
