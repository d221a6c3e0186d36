//! Rules against work that was left undone: tests switched off, holes, dead code kept quiet.
//! They judge code, not talk in comments, except for doc tests, which live there.

use super::code::{bracketed, words};
use super::file::{Fault, File};

/// No test is switched off, whether by an attribute or in a doc test.
pub(crate) fn ignored_tests(file: &File) -> Vec<Fault> {
    let code = file.code.as_str();
    let attributes = code.match_indices("#[").filter(|(at, _)| {
        let inside = bracketed(&code[at + 1..]).unwrap_or_default();
        words(inside).any(|word| word.text == "ignore")
    });
    let mut lines: Vec<_> = attributes.map(|(at, _)| line_at(code, at)).collect();
    lines.extend(ignored_doc_tests(file));
    lines.sort_unstable();
    let advice = "a test that never runs proves nothing; make it run or delete it";
    lines
        .into_iter()
        .map(|line| Fault::new(line, advice))
        .collect()
}

/// No hole is left in the code.
pub(crate) fn holes(file: &File) -> Vec<Fault> {
    let found = words(&file.code).filter(|word| {
        let called = file.code[word.end()..].starts_with("!(");
        called && matches!(word.text, "todo" | "unimplemented")
    });
    let advice = "write it, or return an error that says what is not supported";
    found.map(|word| Fault::new(word.line, advice)).collect()
}

/// Nothing unused is kept by allowing it.
pub(crate) fn dead_code(file: &File) -> Vec<Fault> {
    let found = words(&file.code).filter(|word| {
        let list = bracketed(&file.code[word.end()..]).unwrap_or_default();
        let silenced = words(list).any(|lint| matches!(lint.text, "dead_code" | "unused"));
        word.text == "allow" && silenced
    });
    let advice = "delete what is not used";
    found.map(|word| Fault::new(word.line, advice)).collect()
}

fn ignored_doc_tests(file: &File) -> Vec<usize> {
    let is_ignored = |line: &str| {
        let line = line.trim_start();
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let fence = doc.and_then(|doc| doc.trim_start().strip_prefix("```"));
        fence.is_some_and(|info| words(info).any(|word| word.text == "ignore"))
    };
    let lines = file.text.lines().zip(file.code.lines()).enumerate();
    let comments = lines.filter(|(_, (_, code))| code.trim().is_empty());
    let found = comments.filter(|(_, (line, _))| is_ignored(line));
    found.map(|(at, _)| at + 1).collect()
}

fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn tests_switched_off_are_found() {
        let bad = "\
            /// ```rust,ignore\n\
            /// ```\n\
            #[test]\n\
            #[ignore]\n\
            fn a() {}\n\
            #[ignore = \"slow\"]\n\
            fn b() {}\n\
            #[cfg_attr(windows, ignore)]\n\
            fn c() {}";
        assert_eq!(lines(ignored_tests, "a.rs", bad), [1, 4, 6, 8]);
    }

    #[test]
    fn other_uses_of_ignore_pass() {
        let good = "/// ```no_run\n// #[ignore]\nfn ignore() { x[ignore]; }\nlet s = \"#[ignore]\n/// ```ignore\n\";";
        assert_eq!(lines(ignored_tests, "a.rs", good), []);
    }

    #[test]
    fn holes_are_found() {
        let bad = "fn a() { todo!() }\nfn b() { std::unimplemented!(\"later\") }";
        assert_eq!(lines(holes, "a.rs", bad), [1, 2]);
    }

    #[test]
    fn a_todo_of_another_kind_passes() {
        let good = "// todo!()\nlet todo = plan.todo();\nassert!(s == \"todo!(\");";
        assert_eq!(lines(holes, "a.rs", good), []);
    }

    #[test]
    fn dead_code_kept_quiet_is_found() {
        let bad = "\
            #[allow(dead_code)]\n\
            fn a() {}\n\
            #![allow(\n\
            clippy::x,\n\
            dead_code,\n\
            )]\n\
            #[cfg_attr(test, allow(unused))]";
        assert_eq!(lines(dead_code, "a.rs", bad), [1, 3, 7]);
    }

    #[test]
    fn stricter_levels_and_other_lints_pass() {
        let good = "#![deny(dead_code)]\n#[allow(clippy::large_enum_variant)]\n// allow(dead_code)";
        assert_eq!(lines(dead_code, "a.rs", good), []);
    }
}
