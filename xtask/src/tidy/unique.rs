//! The rule that a public type name stands for one thing in the whole workspace.
//! It judges names, not visibility beyond `pub`: what `pub` says is meant for others.

use std::collections::BTreeMap;

use super::code::{Word, words};
use super::file::{Fault, File};
use super::tree::Tree;

/// No public type has the name of a public type of another file.
pub(crate) fn unique(file: &File, tree: &Tree) -> Vec<Fault> {
    let public = public_types(file);
    if public.is_empty() {
        return Vec::new();
    }
    let elsewhere = tree.public_types();
    public
        .into_iter()
        .filter_map(|word| {
            let others = elsewhere.get(word.text)?;
            let other = others.iter().find(|path| **path != file.path)?;
            let name = word.text;
            Some(Fault::new(
                word.line,
                format!("`{name}` is public in `{other}` too; one name, one thing"),
            ))
        })
        .collect()
}

/// The public types of the workspace's sources and where they are defined.
pub(super) fn by_name(files: &[File]) -> BTreeMap<String, Vec<String>> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        for word in public_types(file) {
            let places = names.entry(word.text.to_owned()).or_default();
            places.push(file.path.clone());
        }
    }
    names
}

fn public_types(file: &File) -> Vec<Word<'_>> {
    let is_source = file.path.starts_with("crates/")
        && file.path.contains("/src/")
        && !file.path.starts_with("crates/toolcall-testkit/");
    if !is_source {
        return Vec::new();
    }
    let all: Vec<Word<'_>> = words(file.code_before_tests()).collect();
    let triples = all.windows(3);
    let public = triples.filter(|triple| {
        triple[0].text == "pub" && matches!(triple[1].text, "struct" | "enum" | "trait" | "union")
    });
    public.map(|triple| triple[2]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_name_stands_for_one_thing() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "pub struct Plan;\npub enum Kind {}"),
            ("crates/b/src/lib.rs", "pub struct Plan;\nstruct Kind;"),
            ("crates/b/tests/it/main.rs", "pub struct Kind;"),
        ]);
        let lines = |at: usize| -> Vec<usize> {
            let faults = unique(&tree.files[at], &tree);
            faults.into_iter().map(|fault| fault.line).collect()
        };
        assert_eq!(lines(0), [1]);
        assert_eq!(lines(1), [1]);
        assert_eq!(lines(2), [0; 0]);
    }
}
