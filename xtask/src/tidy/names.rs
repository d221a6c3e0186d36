//! The rule against names that say nothing.
//! It judges only what is defined here, not the names others gave their types.

use super::code::{Word, words};
use super::file::{Fault, File};

/// What no type, module or file may end in.
const EMPTY_ENDINGS: [&str; 5] = ["Manager", "Helper", "Util", "Handler", "Processor"];
/// What no module or file may be called.
const EMPTY_NAMES: [&str; 2] = ["common", "misc"];

/// No type, trait, module or Rust file has a name that says nothing.
pub(crate) fn names(file: &File) -> Vec<Fault> {
    if !file.is_rust() {
        return Vec::new();
    }
    let mut faults = path_faults(&file.path);
    let all: Vec<Word<'_>> = words(&file.code).collect();
    for pair in all.windows(2) {
        let (keyword, name) = (pair[0].text, pair[1]);
        let empty = match keyword {
            "struct" | "enum" | "trait" | "union" => is_empty_type(name.text),
            "mod" => is_empty_module(name.text),
            _ => false,
        };
        if empty {
            faults.push(Fault::new(name.line, advice(name.text)));
        }
    }
    faults
}

fn path_faults(path: &str) -> Vec<Fault> {
    let stem = path.trim_end_matches(".rs");
    let bad = stem.split('/').filter(|part| is_empty_module(part));
    bad.map(|part| Fault::new(1, advice(part))).collect()
}

fn advice(name: &str) -> String {
    format!("`{name}` says nothing; name the noun it is about")
}

fn is_empty_type(name: &str) -> bool {
    let singular = name.trim_end_matches('s');
    EMPTY_ENDINGS
        .iter()
        .any(|ending| singular.ends_with(ending))
}

fn is_empty_module(name: &str) -> bool {
    let last = name.rsplit(['_', '-']).next().unwrap_or(name);
    let singular = last.trim_end_matches('s');
    let ends_empty = EMPTY_ENDINGS
        .iter()
        .any(|e| e.eq_ignore_ascii_case(singular));
    ends_empty || EMPTY_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn types_that_say_nothing_are_found() {
        let bad = "\
            struct CallManager;\n\
            enum Helper {}\n\
            pub trait EventHandlers {}\n\
            struct PathUtils<T>(T);\n\
            struct Processor;";
        assert_eq!(lines(names, "src/a.rs", bad), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn modules_and_files_that_say_nothing_are_found() {
        let bad = "mod common;\nmod misc {}\npub mod path_util;\nmod helpers;";
        assert_eq!(lines(names, "src/a.rs", bad), [1, 2, 3, 4]);
        assert_eq!(lines(names, "src/utils.rs", ""), [1]);
        assert_eq!(lines(names, "tests/common/mod.rs", ""), [1]);
        assert_eq!(lines(names, "src/session-manager.rs", ""), [1]);
    }

    #[test]
    fn plain_nouns_and_the_types_of_others_pass() {
        let good = "struct Utility;\nimpl ServerHandler for Bridge {}\nmod processing; // mod util\nuse rmcp::Handler;";
        assert_eq!(lines(names, "crates/toolcall/src/call.rs", good), []);
        assert_eq!(lines(names, "helpers/Cargo.toml", "struct Helper"), []);
    }
}
