//! Writes a rule as text that parses as the same rule.
//! Parsing is done in `file.rs`.

use std::fmt::Write as _;

use toolcall::text::is_hidden;
use toolcall_shell::quoted;

use crate::rule::RuleBody;

/// Returns the rule on one line: `run = "cargo test", write = "./out.txt"`.
pub(crate) fn text(body: &RuleBody) -> String {
    fields(body).join(", ")
}

/// Returns the lines of the rule in a policy file, without reason and examples.
pub(crate) fn fields(body: &RuleBody) -> Vec<String> {
    let mut fields = Vec::new();
    let mut list = |key: &str, values: Vec<String>| match values.as_slice() {
        [] => {}
        [one] => fields.push(format!("{key} = {}", string(one))),
        many => {
            let many: Vec<_> = many.iter().map(|value| string(value)).collect();
            fields.push(format!("{key} = [{}]", many.join(", ")));
        }
    };
    let sources = |patterns: &[crate::paths::Pattern]| -> Vec<String> {
        patterns
            .iter()
            .map(|pattern| pattern.source.clone())
            .collect()
    };
    list("run", runs(body));
    list("exactly", body.exactly.clone());
    list(
        "in",
        body.directory
            .iter()
            .map(|directory| directory.to_string_lossy().into_owned())
            .collect(),
    );
    list("read", sources(&body.reads));
    list("write", sources(&body.writes));
    list("delete", sources(&body.deletes));
    list(
        "reach",
        body.reaches
            .iter()
            .map(|reach| reach.source.clone())
            .collect(),
    );
    list(
        "tool",
        body.tool.iter().map(|tool| tool.source.clone()).collect(),
    );
    list("definition", body.definition.iter().cloned().collect());
    fields
}

fn runs(body: &RuleBody) -> Vec<String> {
    let anything = body.runs_anything.then(|| "*".to_owned());
    let words = body
        .runs
        .iter()
        .map(|words| quoted(words.iter().map(String::as_str)));
    anything.into_iter().chain(words).collect()
}

/// Returns a TOML string with hidden characters escaped.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            hidden if is_hidden(hidden) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\U{:08X}", u32::from(hidden));
            }
            shown => out.push(shown),
        }
    }
    out + "\""
}
