//! The rule that `ARCHITECTURE.md` and `docs/invariants.md` name only what exists: paths, functions, and a guard for every invariant.
//! It cannot tell whether what is said about them is true.
//!
//! The convention, for backticked tokens and for the words of code blocks:
//! - a token that ends in `.rs`, `.md`, `.toml` or `/`, or that begins with a folder of the root or of `crates/` and a
//!   slash, is a path, from the root or the end of one: `call.rs`, `toolcall-tools/src/mcp`, `v1/{ask,encode}.rs`;
//! - `PATH.rs::NAME` is a function in that file, `CRATE::…::tests::NAME` one in that crate;
//! - a line of a code block that begins with the path of a Rust file from the root says of it what the file's own
//!   header begins with;
//! - in a table with a column `guard`, each row names at least one guard in backticks there, and a plain `name` is a
//!   function anywhere in the tree.

use std::collections::HashSet;

use super::code::{is_word, words};
use super::file::{Fault, File};
use super::tree::Tree;

/// The pages that are judged.
const PAGES: [&str; 2] = ["ARCHITECTURE.md", "docs/invariants.md"];

/// `ARCHITECTURE.md` and `docs/invariants.md` name only what exists, and say of a file what it says of itself.
pub(crate) fn map(file: &File, tree: &Tree) -> Vec<Fault> {
    if !PAGES.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let named = mentions(&file.text).filter_map(|(line, token)| missing(token, line, tree));
    let mut faults: Vec<_> = named.collect();
    faults.extend(header_faults(&file.text, tree));
    faults.extend(guard_faults(&file.text, tree));
    faults.sort_by_key(|fault| fault.line);
    faults
}

/// Lines of the map that do not say what the header of their file begins with.
fn header_faults(text: &str, tree: &Tree) -> Vec<Fault> {
    let lines = text.lines().enumerate();
    let rows = lines.filter_map(|(at, line)| {
        let (path, said) = line.strip_prefix("    ")?.split_once(char::is_whitespace)?;
        let file = tree.files.iter().find(|file| file.path == path)?;
        Some((at + 1, said.trim(), header(&file.text)?))
    });
    let wrong = rows.filter(|(_, said, header)| said != header);
    wrong
        .map(|(line, _, header)| Fault::new(line, format!("say what the file says: {header}")))
        .collect()
}

/// The first sentence of a file's header, without its end.
fn header(text: &str) -> Option<&str> {
    let first = text.lines().next()?.strip_prefix("//! ")?;
    let sentence = first
        .split_once(". ")
        .map_or(first, |(sentence, _)| sentence);
    Some(sentence.trim_end_matches('.'))
}

/// Every token that may name something, with its line.
fn mentions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().flat_map(move |(at, line)| {
        fenced ^= line.trim_start().starts_with("```");
        let block = fenced || line.starts_with("    ");
        let words = line.split_whitespace().filter(move |_| block);
        let plain = words.map(|word| word.trim_matches([',', ';', ':', '(', ')', '`', '|']));
        plain
            .chain(backticked(line).filter(move |_| !block))
            .map(move |token| (at + 1, token))
    })
}

fn backticked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What is wrong with a token that names something.
fn missing(token: &str, line: usize, tree: &Tree) -> Option<Fault> {
    if let Some((place, name)) = function(token) {
        let found = files_at(place, tree).any(|file| defines(file, name));
        let advice = format!("`{token}` does not exist: no `fn {name}` in `{place}`");
        return (!found).then(|| Fault::new(line, advice));
    }
    if !is_path(token, tree) {
        return None;
    }
    let lost = expanded(token)
        .into_iter()
        .find(|path| !exists(path, tree))?;
    Some(Fault::new(
        line,
        format!("`{lost}` does not exist; name what does"),
    ))
}

/// The place and the name of a function, if the token names one.
fn function(token: &str) -> Option<(&str, &str)> {
    let (place, name) = token.rsplit_once("::")?;
    let in_tests = place.split("::").skip(1).any(|part| part == "tests");
    (place.ends_with(".rs") || in_tests).then(|| (place, name.trim_end_matches("()")))
}

/// The Rust files meant by `PATH.rs` or `CRATE::…`.
fn files_at<'a>(place: &'a str, tree: &'a Tree) -> impl Iterator<Item = &'a File> {
    let krate = place.split("::").next().unwrap_or(place).replace('_', "-");
    tree.files.iter().filter(move |file| {
        let path = file.path.as_str();
        let folder = path.strip_prefix("crates/").unwrap_or(path);
        let in_crate = folder
            .strip_prefix(&krate)
            .is_some_and(|rest| rest.starts_with('/'));
        if place.ends_with(".rs") {
            is_end(path, place)
        } else {
            in_crate
        }
    })
}

fn defines(file: &File, name: &str) -> bool {
    functions(file).any(|function| function == name)
}

/// The names of the functions of a file.
fn functions(file: &File) -> impl Iterator<Item = &str> {
    let mut before = "";
    words(&file.code).filter_map(move |word| {
        let is_name = std::mem::replace(&mut before, word.text) == "fn";
        is_name.then_some(word.text)
    })
}

fn is_path(token: &str, tree: &Tree) -> bool {
    let plain = token
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._-/{},".contains(c));
    let (first, deep) = match token.split_once('/') {
        Some((first, _)) => (first, true),
        None => (token, false),
    };
    let ending = [".rs", ".md", ".toml", "/"]
        .iter()
        .any(|end| token.ends_with(end));
    let rooted = deep && (first.starts_with("toolcall-") || exists_at_top(first, tree));
    plain && first != "target" && (ending || rooted)
}

fn exists_at_top(name: &str, tree: &Tree) -> bool {
    tree.paths.contains(name) || tree.paths.contains(&format!("crates/{name}"))
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(token: &str) -> Vec<String> {
    let braced = token.split_once('{').and_then(|(head, rest)| {
        let (list, tail) = rest.split_once('}')?;
        Some(
            list.split(',')
                .map(|item| format!("{head}{item}{tail}"))
                .collect(),
        )
    });
    braced.unwrap_or_else(|| vec![token.to_owned()])
}

fn exists(path: &str, tree: &Tree) -> bool {
    let path = path.trim_end_matches('/');
    tree.paths.iter().any(|known| is_end(known, path))
}

/// Whether `end` is `path` or its last parts.
fn is_end(path: &str, end: &str) -> bool {
    let head = path.strip_suffix(end);
    head.is_some_and(|head| head.is_empty() || head.ends_with('/'))
}

/// Rows without a guard, and guards that do not exist, in tables with a column `guard`.
fn guard_faults(text: &str, tree: &Tree) -> Vec<Fault> {
    // Gathered once: taking every file apart for every guard takes a minute.
    let defined: HashSet<&str> = tree.files.iter().flat_map(functions).collect();
    let mut column = None;
    let mut in_table = false;
    let mut faults = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let is_row = line.starts_with('|');
        if !is_row {
            column = None;
        } else if !in_table {
            column = cells(line).position(|cell| cell.eq_ignore_ascii_case("guard"));
        } else if let Some(guards) = column.and_then(|column| cells(line).nth(column)) {
            faults.extend(row_faults(guards, at + 1, &defined));
        }
        in_table = is_row;
    }
    faults
}

fn row_faults(guards: &str, line: usize, defined: &HashSet<&str>) -> Vec<Fault> {
    if guards.chars().all(|c| c == '-' || c == ':') && !guards.is_empty() {
        return Vec::new();
    }
    if backticked(guards).next().is_none() {
        return vec![Fault::new(
            line,
            "name the test that guards this, in backticks",
        )];
    }
    let names = backticked(guards).filter(|token| token.chars().all(is_word));
    let lost = names.filter(|name| !defined.contains(name));
    lost.map(|name| {
        Fault::new(
            line,
            format!("no `fn {name}` in the tree; name the test that guards this"),
        )
    })
    .collect()
}

fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim().trim_matches('|').split('|').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: (&str, &str) = ("crates/toolcall/src/call.rs", "fn ended_is_ended() {}");
    const ASK: (&str, &str) = ("crates/toolcall-acp/src/v1/ask.rs", "// fn ghost()");

    fn check(text: &str, expected: &[usize]) {
        let tree = Tree::of(&[CALL, ASK, ("bench/src/main.rs", "")]);
        let faults = map(&File::new("ARCHITECTURE.md", text), &tree);
        let lines: Vec<_> = faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, expected, "{text}\n{faults:?}");
    }

    #[test]
    fn paths_that_exist_pass() {
        check(
            "`call.rs`, `crates/toolcall/src/call.rs`, `toolcall-acp/src/v1`, `v1/`",
            &[],
        );
        check(
            "```\nv1/{ask}.rs   call.rs, bench/\n```\n    crates/  toolcall/ the heart",
            &[],
        );
    }

    #[test]
    fn paths_that_do_not_exist_are_found() {
        check(
            "`gone.rs`\n`crates/toolcall/src/gone`\n`toolcall-gone/src`",
            &[1, 2, 3],
        );
        check("```\nv1/{ask,gone}.rs\n```\n    gone/  a room", &[2, 4]);
        check("`all.rs` is not the end of `call.rs`", &[1]);
    }

    #[test]
    fn a_row_of_the_map_says_what_its_file_says() {
        let tree = Tree::of(&[("crates/a/src/lib.rs", "//! What a call is. No wire.\n")]);
        let lines = |text: &str| -> Vec<usize> {
            let faults = map(&File::new("ARCHITECTURE.md", text), &tree);
            faults.iter().map(|fault| fault.line).collect()
        };
        assert_eq!(lines("    crates/a/src/lib.rs   What a call is"), []);
        assert_eq!(lines("    crates/a/src/lib.rs   The heart"), [1]);
    }

    #[test]
    fn what_is_no_path_passes() {
        check(
            "`session/update`, `Touch::Reads`, `a / b`, `target/debug/`, `crates/*`, call-me.rs",
            &[],
        );
    }

    #[test]
    fn functions_must_exist() {
        check(
            "`call.rs::ended_is_ended`, `toolcall::call::tests::ended_is_ended()`",
            &[],
        );
        check(
            "`call.rs::ghost`\n`ask.rs::ghost`\n`toolcall_acp::tests::ended_is_ended`",
            &[1, 2, 3],
        );
    }

    #[test]
    fn every_invariant_has_a_guard_that_exists() {
        let table = "| invariant | guard |\n|---|:--|\n";
        check(
            &format!("{table}| ended | `ended_is_ended` and `cargo xtask tidy` |"),
            &[],
        );
        check(
            &format!("{table}| ended | `ghost` |\n| other | a person |\n| third | |"),
            &[3, 4, 5],
        );
        check("| room | never |\n|---|---|\n| `call` | `ghost` |", &[]);
    }

    #[test]
    fn other_files_are_not_judged() {
        let file = File::new("README.md", "`gone.rs`");
        assert_eq!(map(&file, &Tree::default()), []);
    }
}
