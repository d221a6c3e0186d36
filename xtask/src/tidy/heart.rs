//! Rules that keep the heart crate free of the wire and its core free of the world.
//! They judge `crates/toolcall/src` and nothing else.

use super::code::{bracketed, words};
use super::file::{Fault, File};

const HEART: &str = "crates/toolcall/src/";
/// Forms that mirror values of the heart; none of it may use them.
const FORMS: &str = "crates/toolcall/src/serde_forms.rs";
/// Files of pure values.
const PURE: [&str; 3] = [
    "crates/toolcall/src/call.rs",
    "crates/toolcall/src/command.rs",
    "crates/toolcall/src/intent.rs",
];
/// What a pure value never names: time, files, async.
const WORLD: [&str; 6] = ["tokio", "Instant", "SystemTime", "fs", "async", "await"];

/// No type of the heart can be serialized; tests may define types of their own.
pub(crate) fn no_wire(file: &File) -> Vec<Fault> {
    if !file.path.starts_with(HEART) || file.path == FORMS {
        return Vec::new();
    }
    let code = file.code_before_tests();
    let found = words(code).filter(|word| match word.text {
        "serde_forms" => !file.path.ends_with("/lib.rs"),
        "derive" => derives_serialize(&code[word.end()..]),
        "Serialize" => is_implemented(&code[word.end()..]),
        _ => false,
    });
    let advice = "heart types are not `Serialize`; convert them in the store or the encoder";
    found.map(|word| Fault::new(word.line, advice)).collect()
}

/// `call.rs`, `command.rs` and `intent.rs` name no time, no files and nothing async.
pub(crate) fn purity(file: &File) -> Vec<Fault> {
    if !PURE.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let found = words(&file.code).filter(|word| WORLD.contains(&word.text));
    found
        .map(|word| {
            let advice = format!(
                "`{}` in a file of pure values; hand the value in",
                word.text
            );
            Fault::new(word.line, advice)
        })
        .collect()
}

fn derives_serialize(after: &str) -> bool {
    let list = bracketed(after).unwrap_or_default();
    words(list).any(|word| word.text == "Serialize")
}

/// Whether `Serialize` is followed by `for`, as in `impl Serialize for Call`.
fn is_implemented(after: &str) -> bool {
    let gap = after.len() - after.trim_start().len();
    gap > 0
        && words(&after[gap..])
            .next()
            .is_some_and(|word| word.start == 0 && word.text == "for")
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    const STORE: &str = "crates/toolcall/src/store.rs";

    #[test]
    fn a_heart_type_with_serialize_is_found() {
        let bad = "\
            #[derive(Debug, Serialize)]\n\
            struct A;\n\
            #[derive(\n\
            serde::Serialize,\n\
            )]\n\
            struct B;\n\
            impl serde::Serialize for A {}";
        assert_eq!(lines(no_wire, STORE, bad), [1, 3, 7]);
    }

    #[test]
    fn forms_may_serialize_and_the_heart_may_not_use_them() {
        assert_eq!(lines(no_wire, FORMS, "#[derive(Serialize)] struct A;"), []);
        let use_of_forms = "use crate::serde_forms::KindForm;";
        assert_eq!(lines(no_wire, STORE, use_of_forms), [1]);
        let declared = "pub mod serde_forms;";
        assert_eq!(lines(no_wire, "crates/toolcall/src/lib.rs", declared), []);
    }

    #[test]
    fn bounds_tests_and_other_crates_may_serialize() {
        let good = "\
            // derive(Serialize)\n\
            #[derive(Deserialize)]\n\
            struct A<T: Serialize, U>(T, U);\n\
            fn f<T>() where T: Serialize, for<'a> T: Clone {}\n\
            #[cfg(test)]\n\
            mod tests {\n\
            #[derive(Serialize)]\n\
            struct B; }";
        assert_eq!(lines(no_wire, STORE, good), []);
        let derive = "#[derive(Serialize)] struct A;";
        assert_eq!(
            lines(no_wire, "crates/toolcall-history/src/row.rs", derive),
            []
        );
        assert_eq!(
            lines(no_wire, "crates/toolcall/examples/first.rs", derive),
            []
        );
    }

    #[test]
    fn the_world_in_a_pure_file_is_found() {
        let bad = "\
            use tokio::sync::Mutex;\n\
            use std::time::{Duration, Instant};\n\
            use std::{\n\
            fs,\n\
            };\n\
            async fn f(at: SystemTime) {}";
        assert_eq!(
            lines(purity, "crates/toolcall/src/call.rs", bad),
            [1, 2, 4, 6, 6]
        );
        assert_eq!(
            lines(purity, "crates/toolcall/src/intent.rs", bad),
            [1, 2, 4, 6, 6]
        );
    }

    #[test]
    fn values_and_other_files_pass() {
        let good = "//! No tokio, no Instant.\nuse std::time::Duration;\nstruct Fs;";
        assert_eq!(lines(purity, "crates/toolcall/src/call.rs", good), []);
        let engine = "crates/toolcall/src/engine.rs";
        assert_eq!(lines(purity, engine, "use tokio::time::Instant;"), []);
    }
}
