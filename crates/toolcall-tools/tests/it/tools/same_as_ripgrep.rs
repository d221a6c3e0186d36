//! On random trees with random ignore files, the walk finds the same paths as ripgrep's own crate.
//! The two walks share no code but the matching of single patterns.

use std::collections::BTreeSet;

use ignore::WalkBuilder;
use proptest::prelude::*;
use serde_json::json;

use crate::tools::project::TreeProject;

const NAMES: [&str; 8] = ["a", "b", "ab", ".h", "x.o", "build", "a b", "é"];
const RULES: [&str; 24] = [
    "a", "/a", "a/", "!a", "*.o", "!x.o", "**/b", "a/b", "b/**", "!b/a", ".h", "!.h", "build/",
    "!build/", "a*", "[ab]", "# a", "\\!a", "a b", "/b/a", "**", "é", "*/x.o", "{a",
];

/// Generates a path.
fn path() -> impl Strategy<Value = String> {
    let name = proptest::sample::select(&NAMES[..]);
    proptest::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

/// Generates an ignore file in some directory.
fn rules() -> impl Strategy<Value = (String, String)> {
    let folder = prop_oneof![Just(String::new()), path().prop_map(|path| path + "/")];
    let name = proptest::sample::select(&[".gitignore", ".ignore", ".git/info/exclude"][..]);
    let rule = proptest::sample::select(&RULES[..]);
    let text = proptest::collection::vec(rule, 0..6).prop_map(|rules| rules.join("\n"));
    (folder, name, text).prop_map(|(folder, name, text)| (format!("{folder}{name}"), text))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_same_is_ignored(
        files in proptest::collection::vec(path(), 0..25),
        rules in proptest::collection::vec(rules(), 0..5),
    ) {
        let project = TreeProject::new().showing(usize::MAX);
        for (path, text) in rules {
            write(&project, &path, &text);
        }
        for path in files {
            write(&project, &path, "");
        }
        prop_assert_eq!(ours(&project), theirs(&project));
    }
}

/// Creates a file, unless something else is in its place.
fn write(project: &TreeProject, path: &str, text: &str) {
    let path = project.root().join(path);
    if std::fs::create_dir_all(path.parent().unwrap()).is_ok() {
        let _ignored = std::fs::write(path, text);
    }
}

fn ours(project: &TreeProject) -> BTreeSet<String> {
    let listed = project.structured("list_directory", json!({"path": ".", "depth": 256}));
    let entries = listed["entries"].as_array().unwrap().iter();
    let paths = entries.map(|entry| entry.as_str().unwrap().trim_end_matches('/').to_owned());
    paths.filter(|path| !is_git(path)).collect()
}

fn theirs(project: &TreeProject) -> BTreeSet<String> {
    let root = project.root();
    let walk = WalkBuilder::new(&root)
        .require_git(false)
        .git_global(false)
        .parents(false)
        .build();
    let paths = walk.map(|entry| {
        let path = entry.unwrap().into_path();
        path.strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    });
    paths
        .filter(|path| !path.is_empty() && !is_git(path))
        .collect()
}

fn is_git(path: &str) -> bool {
    path.split('/').any(|name| name == ".git")
}
