//! `list_directory`: what a model gets for a directory.
//! Every case is a small project and the complete result.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::tools::project::TreeProject;

fn check(project: &TreeProject, input: Value, expected: Expect) {
    expected.assert_eq(&project.says("list_directory", input));
}

fn project() -> TreeProject {
    let project = TreeProject::with(&[
        ("src/lib.rs", ""),
        ("src/a/b/c.rs", ""),
        ("src-old", ""),
        ("README.md", ""),
        (".gitignore", "target/\n"),
        ("target/debug/x", ""),
        (".git/config", ""),
    ]);
    std::fs::create_dir(project.root().join("empty")).unwrap();
    project
}

#[test]
fn names_are_sorted_and_directories_marked() {
    let project = project();
    check(
        &project,
        json!({"path": "."}),
        expect![[r#"
        .: 2 folders, 2 files. 3 names hidden or ignored; `ignored: "show"` shows them.
        README.md
        empty/
        src/
        src-old"#]],
    );
    check(
        &project,
        json!({"path": ".", "depth": 2}),
        expect![[r#"
        .: 3 folders, 3 files. 3 names hidden or ignored; `ignored: "show"` shows them.
        README.md
        empty/
        src/
        src/a/
        src/lib.rs
        src-old"#]],
    );
    check(
        &project,
        json!({"path": "src", "depth": 256}),
        expect![[r#"
            src: 2 folders, 2 files.
            a/
            a/b/
            a/b/c.rs
            lib.rs"#]],
    );
    check(
        &project,
        json!({"path": "empty"}),
        expect![[r#"empty: 0 folders, 0 files."#]],
    );
}

#[test]
fn hidden_and_ignored_names_are_shown_on_demand_and_git_is_never_entered() {
    let project = project();
    check(
        &project,
        json!({"path": ".", "depth": 3, "ignored": "show"}),
        expect![[r#"
            .: 7 folders, 5 files.
            .git/
            .gitignore
            README.md
            empty/
            src/
            src/a/
            src/a/b/
            src/lib.rs
            src-old
            target/
            target/debug/
            target/debug/x"#]],
    );
}

#[test]
fn links_and_pipes_are_marked_and_nothing_is_followed() {
    let project = TreeProject::with(&[("a/b", "")]);
    project.link("out", project.at("/w/outside"));
    project.link("in", "a");
    project.link("odd", "\u{1b}[31m");
    let pipe = project.root().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, 0o600.into()).unwrap();
    let said = project.says("list_directory", json!({"path": ".", "depth": 9}));
    let said = said.replace(project.at("/w/outside").to_str().unwrap(), "/outside");
    expect![[r#"
        .: 1 folder, 1 file, 4 links and others.
        a/
        a/b
        in@ -> a
        odd@ -> \u{1b}[31m
        out@ -> /outside
        pipe (pipe)"#]]
    .assert_eq(&said);
}

#[test]
fn a_long_list_keeps_what_lies_higher_and_says_of_how_much() {
    let project = TreeProject::with(&[("a/1", ""), ("a/2", ""), ("b/1", ""), ("c", "")]).showing(4);
    check(
        &project,
        json!({"path": ".", "depth": 2}),
        expect![[r#"
        .: 2 folders, 4 files.
        a/
        a/1
        b/
        c
        (4 of 6 shown; list a folder further down, or fewer levels, for the rest)"#]],
    );
    let structured = project.structured("list_directory", json!({"path": ".", "depth": 2}));
    expect![[r#"{"path":".","folders":2,"files":4,"others":0,"hidden":0,"total":6,"truncated":true,"entries":["a/","a/1","b/","c"]}"#]].assert_eq(&structured.to_string());
}

#[test]
fn a_path_that_is_no_directory_says_what_to_do() {
    let project = project();
    let check = |input: Value, expected: Expect| {
        expected.assert_eq(&project.fails("list_directory", input));
    };
    check(
        json!({"path": "missing"}),
        expect![[r#"`/w/proj/missing` does not exist; list the folder above it to see what does"#]],
    );
    check(
        json!({"path": "README.md"}),
        expect![[r#"`/w/proj/README.md` is a file, not a folder; give the folder it is in"#]],
    );
    check(
        json!({"path": "/"}),
        expect![[r#"`/` is outside the folders of this session"#]],
    );
}

#[test]
fn what_a_rule_denies_is_not_shown() {
    let project = project();
    let input = json!({"path": ".", "depth": 9});
    let said = project.says_without(&["src/a", "README.md"], "list_directory", input);
    expect![[r#"
        .: 2 folders, 2 files. 3 names hidden or ignored; `ignored: "show"` shows them. 2 paths are left out because a rule denies them.
        empty/
        src/
        src/lib.rs
        src-old"#]].assert_eq(&said);
}
