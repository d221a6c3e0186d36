//! The rule that a type of the standard library or tokio keeps its name.
//! It judges `use … as …`; a trait imported without a name passes.

use super::code::words;
use super::file::{Fault, File};

/// Crates whose types everybody knows by their own names.
const KNOWN: [&str; 4] = ["alloc", "core", "std", "tokio"];

/// No type of the standard library or tokio gets another name. Two types of one name, such as the
/// two kinds of mutex, may be told apart by a longer one.
pub(crate) fn aliases(file: &File) -> Vec<Fault> {
    renamed(&file.code)
        .into_iter()
        .map(|(line, old, new)| {
            let advice = format!("`{old}` is known by that name; do not call it `{new}`");
            Fault::new(line, advice)
        })
        .collect()
}

/// Types of known crates that are imported under another name: line, name and alias.
pub(crate) fn renamed(code: &str) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    let mut line = 1;
    for statement in code.split_inclusive(';') {
        let text = statement.trim_start();
        let skipped = statement.len() - text.len();
        let start = line + statement[..skipped].matches('\n').count();
        line += statement.matches('\n').count();
        let import = text.rsplit_once("use ").map(|(_, path)| path.trim_start());
        let is_known = |path: &str| {
            KNOWN
                .iter()
                .any(|krate| path.starts_with(&format!("{krate}::")))
        };
        if import.is_some_and(is_known) {
            found.extend(renamed_in(text, start));
        }
    }
    found
}

fn renamed_in(text: &str, start: usize) -> Vec<(usize, String, String)> {
    let all: Vec<_> = words(text).collect();
    let triples = all.windows(3).filter(|triple| triple[1].text == "as");
    triples
        .filter(|triple| {
            let (old, new) = (triple[0].text, triple[2].text);
            new != "_" && old.starts_with(char::is_uppercase) && !new.ends_with(old)
        })
        .map(|triple| {
            let line = start + triple[0].line - 1;
            (line, triple[0].text.to_owned(), triple[2].text.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn known_types_under_other_names_are_found() {
        let bad = "use std::sync::Mutex as Door;\nuse tokio::sync::{Mutex as Line, watch};";
        assert_eq!(lines(aliases, "src/a.rs", bad), [1, 2]);
    }

    #[test]
    fn longer_names_traits_and_other_crates_pass() {
        let good = "use tokio::sync::Mutex as AsyncMutex;\nuse std::io::Write as _;\nuse rmcp::Service as S;\nuse std::fmt as f;";
        assert_eq!(lines(aliases, "src/a.rs", good), []);
    }
}
