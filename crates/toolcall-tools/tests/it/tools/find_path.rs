//! `find_path`: what a model gets for a pattern.
//! Every case is a small project and the whole answer.

use std::fs::File;
use std::time::{Duration, SystemTime};

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::tools::ground::Ground;

/// Each file is newer than the one before it.
fn aged(paths: &[&str]) -> Ground {
    let ground = Ground::new();
    for (age, path) in paths.iter().enumerate() {
        let path = ground.write(path, "");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }
    ground
}

fn check(ground: &Ground, input: Value, expected: Expect) {
    expected.assert_eq(&ground.says("find_path", input));
}

#[test]
fn the_newest_come_first() {
    let ground = aged(&["b.rs", "src/c.rs", "src/deep/a.rs", "src/a.txt"]);
    check(
        &ground,
        json!({"pattern": "*.rs"}),
        expect![[r#"
            3 paths in . match `*.rs`, the newest first.
            src/deep/a.rs
            src/c.rs
            b.rs"#]],
    );
    check(
        &ground,
        json!({"pattern": "src/*"}),
        expect![[r#"
            3 paths in . match `src/*`, the newest first.
            src/deep/
            src/a.txt
            src/c.rs"#]],
    );
    check(
        &ground,
        json!({"pattern": "**/*.{rs,txt}", "path": "src"}),
        expect![[r#"
            3 paths in src match `**/*.{rs,txt}`, the newest first.
            src/a.txt
            src/deep/a.rs
            src/c.rs"#]],
    );
    check(
        &ground,
        json!({"pattern": "/*.rs"}),
        expect![[r#"
            1 path in . matches `/*.rs`.
            b.rs"#]],
    );
    check(
        &ground,
        json!({"pattern": "deep"}),
        expect![[r#"
            1 path in . matches `deep`.
            src/deep/"#]],
    );
    check(
        &ground,
        json!({"pattern": "*.py"}),
        expect![[
            r#"Nothing in . matches `*.py` (0 names are hidden or ignored, which are left out)."#
        ]],
    );
}

#[test]
fn a_long_result_is_cut_and_says_of_how_much() {
    let ground = aged(&["1", "2", "3", "4", "5"]).showing(2);
    check(
        &ground,
        json!({"pattern": "*"}),
        expect![[r#"
            5 paths in . match `*`, the newest first.
            5
            4
            (the newest 2 of 5 are shown; a longer pattern or a `path` further down finds fewer)"#]],
    );
    let structured = ground.structured("find_path", json!({"pattern": "*"}));
    expect![[r#"{"paths":["5","4"],"total":5,"truncated":true}"#]]
        .assert_eq(&structured.to_string());
}

#[test]
fn what_cannot_be_searched_says_what_to_do() {
    let ground = aged(&["a"]);
    let check = |input: Value, expected: Expect| {
        expected.assert_eq(&ground.fails("find_path", input));
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
    let ground = aged(&[
        ".h/x.rs",
        "ignored.rs",
        "sub/x.rs",
        "secret/x.rs",
        "sub/y.rs",
    ]);
    ground.write(".gitignore", "ignored.rs\n");
    ground.link("out.rs", ground.at("/w/outside"));
    ground.link("out", ground.at("/w/outside"));
    let said = ground.says_without(
        &["secret", "sub/y.rs"],
        "find_path",
        json!({"pattern": "**/{*.rs,canary}"}),
    );
    expect![[r#"
        2 paths in . match `**/{*.rs,canary}`, the newest first. 2 paths are left out because a rule denies them.
        out.rs@
        sub/x.rs"#]].assert_eq(&said);
}
