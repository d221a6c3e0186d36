//! The rule against names that the field has a better word for.
//! It judges definitions only: prose, imports and what others named pass.

use super::code::{Word, words};
use super::file::{Fault, File};

/// Type names that are not defined again, and what to use instead.
const TYPES: [(&str, &str); 33] = [
    ("Asked", "the noun it is, such as `AskedQuestion`"),
    ("Beat", "`Heartbeat` or `ScriptStep`"),
    ("Book", "`PolicyStore`"),
    ("BookSettings", "`PolicyStoreConfig`"),
    ("Bin", "`Trash`"),
    ("Breakdown", "an error type that ends in `Error`"),
    ("Court", "`PolicyReplay`"),
    ("Deed", "`ActionClass`, or the action it is"),
    ("Doubt", "`Ambiguity`"),
    ("Door", "`Mutex`"),
    ("Failure", "an error type that ends in `Error`"),
    ("Hearing", "`Evaluation`"),
    ("Inside", "`MutexGuard`"),
    ("KeptRule", "`RememberedRule`"),
    ("Kit", "`Toolset`"),
    ("Life", "`CallSummary`, or what it summarizes"),
    ("Look", "`PrepareContext`"),
    ("Moment", "`Timestamp`"),
    ("Onlooker", "`Observer`"),
    ("Pen", "`RecordWriter`"),
    ("Scope", "`RunContext` or `LayerSource`"),
    ("Setting", "`SessionContext`"),
    ("Sitting", "`Session`"),
    ("Sittings", "`Sessions`"),
    ("Sort", "the kind it is, such as `OptionKind`"),
    ("Stance", "`RuleEffect`"),
    ("Told", "the noun it is"),
    ("Trouble", "an error type that ends in `Error`"),
    ("Untold", "the noun it is"),
    ("What", "the noun it is"),
    ("Which", "a selector, such as `SessionSelector`"),
    ("Wish", "the request, args or options it is"),
    ("Workplace", "`SessionResources`"),
];

/// Names of functions and modules that are not defined again, and what to use instead.
const NAMES: [(&str, &str); 17] = [
    ("adjourn", "`finish`"),
    ("all_told", "`flush`"),
    ("book", "`store`"),
    ("crew", "`workers`"),
    ("ears", "`notifications`"),
    ("hear", "`evaluate`, `read` or `receive`"),
    ("hearing", "`evaluation`"),
    ("kit", "`toolset`"),
    ("shelf", "`tool_cache`"),
    ("sign_in", "`authenticate`"),
    ("sitting", "`session`"),
    ("stance", "`rule_effect`"),
    ("tell", "`send`, `report` or `record`"),
    ("told", "`reported`"),
    ("trouble", "`error`"),
    ("walls", "`isolation`"),
    ("workshop", "`context`"),
];

/// No definition has a name for which the field has a better word.
pub(crate) fn glossary(file: &File) -> Vec<Fault> {
    let found = replaced(&file.code).into_iter();
    found
        .map(|(word, better)| Fault::new(word.line, format!("`{}`: use {better}", word.text)))
        .collect()
}

/// The definitions with a replaced name, each with the better one.
pub(crate) fn replaced(code: &str) -> Vec<(Word<'_>, &'static str)> {
    let all: Vec<Word<'_>> = words(code).collect();
    let pairs = all.windows(2);
    pairs
        .filter_map(|pair| {
            let known: &[(&str, &'static str)] = match pair[0].text {
                "struct" | "enum" | "trait" | "type" | "union" => &TYPES,
                "fn" | "mod" => &NAMES,
                _ => return None,
            };
            let better = known.iter().find(|(old, _)| *old == pair[1].text)?.1;
            Some((pair[1], better))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn definitions_with_replaced_names_are_found() {
        let bad = "struct Sitting;\nenum Which {}\nfn hear() {}\nmod ears;\ntype Told = u8;";
        assert_eq!(lines(glossary, "src/a.rs", bad), [1, 2, 3, 4, 5]);
        let advice = glossary(&File::new("src/a.rs", "fn hear() {}"))
            .remove(0)
            .advice;
        assert_eq!(advice, "`hear`: use `evaluate`, `read` or `receive`");
    }

    #[test]
    fn prose_imports_and_uses_pass() {
        let good = "// struct Sitting\nuse other::Which;\nlet told = hear();\nstruct Sittings2;";
        assert_eq!(lines(glossary, "src/a.rs", good), []);
    }
}
