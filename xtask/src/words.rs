//! `cargo xtask words`: counts how plainly the tree speaks, beside an earlier tree if one is named.
//! It judges nothing; what may not be is said by `cargo xtask tidy`.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::tidy::code::words;
use crate::tidy::file::File;
use crate::tidy::tree::Tree;
use crate::tidy::{aliases, booleans, glossary};

/// What is counted, in the order in which it is printed.
struct Counts {
    rows: Vec<(&'static str, usize)>,
    docs: HashSet<String>,
}

/// Prints the counts of the tree below `root`, and those of the tree below `before`.
pub(crate) fn run(root: &Path, before: Option<&Path>) -> Result<(), String> {
    let now = Counts::of(&Tree::read(root)?);
    let Some(before) = before else {
        for (what, count) in &now.rows {
            println!("{count:>8}  {what}");
        }
        return Ok(());
    };
    let then = Counts::of(&Tree::read(before)?);
    println!("{:>8} {:>8}", "before", "now");
    for ((what, count), (_, earlier)) in now.rows.iter().zip(&then.rows) {
        println!("{earlier:>8} {count:>8}  {what}");
    }
    let changed = now.docs.difference(&then.docs).count();
    println!(
        "{:>8} {changed:>8}  doc comments that were not there before",
        ""
    );
    Ok(())
}

impl Counts {
    fn of(tree: &Tree) -> Self {
        let rust = || {
            tree.files
                .iter()
                .filter(|file| file.is_rust() && is_ours(&file.path))
        };
        let sum = |count: fn(&File) -> usize| rust().map(count).sum();
        let types = types(rust());
        let text = |path: &str| tree.files.iter().find(|file| file.path == path);
        let docs: Vec<String> = rust().flat_map(|file| doc_comments(&file.text)).collect();
        let rows = vec![
            ("types defined in sources", types.values().sum()),
            (
                "names that several of them share",
                types.values().filter(|count| **count > 1).count(),
            ),
            (
                "definitions with a replaced name",
                sum(|file| glossary::replaced(&file.code).len()),
            ),
            (
                "arms of boolean matches",
                sum(|file| booleans::arms(&file.code).len()),
            ),
            (
                "aliases of known types",
                sum(|file| aliases::renamed(&file.code).len()),
            ),
            ("doc comments", docs.len()),
            ("doc examples", sum(|file| doc_examples(&file.text))),
            (
                "lines of README.md",
                text("README.md").map_or(0, |file| file.text.lines().count()),
            ),
            (
                "bytes of ARCHITECTURE.md",
                text("ARCHITECTURE.md").map_or(0, |file| file.text.len()),
            ),
        ];
        Self {
            rows,
            docs: docs.into_iter().collect(),
        }
    }
}

fn is_ours(path: &str) -> bool {
    path.starts_with("crates/") || path.starts_with("bench/") || path.starts_with("xtask/")
}

/// How often each type name is defined in sources, tests left out.
fn types<'a>(files: impl Iterator<Item = &'a File>) -> BTreeMap<String, usize> {
    let mut types = BTreeMap::new();
    for file in files.filter(|file| file.path.contains("/src/")) {
        let all: Vec<_> = words(file.code_before_tests()).collect();
        for pair in all.windows(2) {
            let is_type = matches!(pair[0].text, "struct" | "enum" | "trait" | "union");
            if is_type && pair[1].text.starts_with(char::is_uppercase) {
                *types.entry(pair[1].text.to_owned()).or_default() += 1;
            }
        }
    }
    types
}

/// The doc comments of a file, each as one text.
fn doc_comments(text: &str) -> Vec<String> {
    let mut comments: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        match comment {
            Some(comment) if is_open => {
                if let Some(last) = comments.last_mut() {
                    last.push_str(comment);
                }
            }
            Some(comment) => comments.push(comment.to_owned()),
            None => {}
        }
        is_open = comment.is_some();
    }
    comments
}

/// Code blocks in doc comments that rustdoc compiles.
fn doc_examples(text: &str) -> usize {
    let lines = text.lines().map(str::trim_start);
    let docs = lines.filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
    let mut is_inside = false;
    let mut examples = 0;
    for fence in docs.filter_map(|doc| doc.trim().strip_prefix("```")) {
        let is_rust = fence.is_empty() || fence.starts_with("rust") || fence.starts_with("no_run");
        examples += usize::from(!is_inside && is_rust);
        is_inside = !is_inside;
    }
    examples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_counted() {
        let tree = Tree::of(&[
            (
                "crates/a/src/lib.rs",
                "//! A.\n//!\n//! ```\n//! a();\n//! ```\n\n/// One.\nstruct Which;\nstruct B;",
            ),
            (
                "crates/b/src/lib.rs",
                "//! B.\nuse std::sync::Mutex as Door;\nstruct B;\nfn f() {\n match a {\n true => 1,\n }\n}",
            ),
            ("README.md", "a\nb\n"),
        ]);
        let counts: Vec<usize> = Counts::of(&tree).rows.iter().map(|row| row.1).collect();
        assert_eq!(counts, [3, 1, 1, 1, 1, 3, 1, 2, 0]);
    }
}
