//! The help text, and the messages about lines that cannot be read.
//! It formats text and decides nothing.

use serde_json::Value;
use toolcall::text::clean_line;
use toolcall::{Registry, ToolDefinition};

use super::reading::{LineError, UnreadableLine};
use super::verbs::Verb;

/// The most tools that are listed; the rest are counted.
const MOST_TOOLS: usize = 40;
/// The least similarity of a name that is suggested.
const LIKENESS: f64 = 0.75;
const LONGEST_WORD: usize = 40;

/// Returns every kind of line with an example.
pub(super) fn all(tools: &Registry) -> String {
    let mut lines =
        vec!["Each line is one call. Several lines run one after the other.\n".to_owned()];
    for verb in verbs(tools) {
        let facts = verb.facts();
        lines.push(format!("- `{}`: {}", facts.example, facts.does));
    }
    lines.push("- `help`: this list".to_owned());
    let others: Vec<&ToolDefinition> = tools.definitions().filter(|tool| !has_verb(tool)).collect();
    if !others.is_empty() {
        let lead = "\nAny tool by its name, with `key=value` or one JSON object:\n";
        lines.push(lead.to_owned());
    }
    let shown = others.iter().take(MOST_TOOLS);
    lines.extend(shown.map(|tool| format!("- `{}`", example(tool))));
    if let more @ 1.. = others.len().saturating_sub(MOST_TOOLS) {
        lines.push(format!("- and {more} more"));
    }
    lines.join("\n") + "\n"
}

/// Returns the message about a line that cannot be read. No call was made.
pub(super) fn unread(unread: &UnreadableLine, text: &str, tools: &Registry) -> String {
    let why = why(&unread.fault, tools);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    match lines.count() {
        0 | 1 => format!("{why}\n"),
        2.. => format!("Line {}: {why} Nothing was run.\n", unread.line),
    }
}

fn why(fault: &LineError, tools: &Registry) -> String {
    match fault {
        LineError::Unknown(word) => unknown(word, tools),
        LineError::Requirement(verb, what) => {
            let facts = verb.facts();
            format!(
                "`{}` needs {what}. For example: `{}`.",
                facts.name, facts.example
            )
        }
        LineError::NoTool(verb) => {
            let facts = verb.facts();
            let (name, tool) = (facts.name, facts.tool);
            format!("`{name}` needs the tool `{tool}`, which this session does not have.")
        }
        LineError::Pairs(tool, error) => {
            let reason = clean_line(&error.to_string(), 200);
            format!("{reason}. For example: `{}`.", example_of(tool, tools))
        }
        LineError::Json(tool, reason) => {
            let reason = clean_line(reason, 200);
            format!("The JSON for `{tool}` cannot be read: {reason}.")
        }
    }
}

fn unknown(word: &str, tools: &Registry) -> String {
    let shown = clean_line(word, LONGEST_WORD);
    match nearest(word, tools) {
        Some(example) => {
            format!("I do not know `{shown}`. Did you mean `{example}`? `help` lists everything.")
        }
        None => format!("I do not know `{shown}`. `help` lists everything."),
    }
}

/// Returns an example of what the word was probably meant to be.
fn nearest(word: &str, tools: &Registry) -> Option<String> {
    let word: String = word.to_lowercase().chars().take(LONGEST_WORD).collect();
    let verbs = verbs(tools).map(|verb| (verb.facts().name, verb.facts().example.to_owned()));
    let tools = tools.definitions().map(|tool| (&*tool.name, example(tool)));
    let scored = verbs
        .chain(tools)
        .map(|(name, example)| (strsim::jaro_winkler(&word, &name.to_lowercase()), example));
    let near = scored.filter(|(score, _)| *score > LIKENESS);
    // Of equal ones the first: users write verbs.
    let best = near.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, example)| example)
}

/// Returns the verbs whose tool is registered.
fn verbs(tools: &Registry) -> impl Iterator<Item = Verb> {
    let is_there = |verb: &Verb| tools.definition(verb.facts().tool).is_some();
    Verb::ALL.into_iter().filter(is_there)
}

fn has_verb(tool: &ToolDefinition) -> bool {
    Verb::ALL
        .iter()
        .any(|verb| verb.facts().tool == &*tool.name)
}

fn example_of(name: &str, tools: &Registry) -> String {
    tools.definition(name).map(example).unwrap_or_default()
}

/// Returns an example line that calls the tool with its required arguments.
fn example(tool: &ToolDefinition) -> String {
    let required = tool.input_schema["required"].as_array();
    let keys = required.into_iter().flatten().filter_map(Value::as_str);
    let pairs = keys.map(|key| {
        let kind = tool.input_schema["properties"][key]["type"].as_str();
        format!(" {key}={}", sample_of(kind))
    });
    format!("{}{}", tool.name, pairs.collect::<String>())
}

fn sample_of(kind: Option<&str>) -> &'static str {
    match kind {
        Some("integer" | "number") => "1",
        Some("boolean") => "true",
        Some("array") => "[]",
        Some("object") => "{}",
        Some(_) | None => "…",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::reading::steps;
    use super::super::sample;
    use super::*;

    fn check(text: &str, expected: Expect) {
        let tools = sample::tools();
        let fault = steps(text, &tools).expect_err("a line that cannot be read");
        expected.assert_eq(&unread(&fault, text, &tools));
    }

    #[test]
    fn a_mistyped_word_is_answered_with_the_nearest_command() {
        check(
            "raed README.md",
            expect![[r#"
                I do not know `raed`. Did you mean `read README.md`? `help` lists everything.
            "#]],
        );
        check(
            "get_sum a=1",
            expect![[r#"
            I do not know `get_sum`. Did you mean `get-sum a=1 b=1`? `help` lists everything.
        "#]],
        );
        check(
            "Hello there!",
            expect![[r#"
            I do not know `Hello`. `help` lists everything.
        "#]],
        );
        check(
            "list\n\nraed a\nlist",
            expect![[r#"
                Line 3: I do not know `raed`. Did you mean `read README.md`? `help` lists everything. Nothing was run.
            "#]],
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        check(
            "read",
            expect![[r#"
                `read` needs one path, in quotes if it has spaces. For example: `read README.md`.
            "#]],
        );
        check(
            "mode read-only",
            expect![[r#"
            `mode` needs the tool `switch_mode`, which this session does not have.
        "#]],
        );
        check(
            "get-sum 1 2",
            expect![[r#"
            `1` is not `key=value`; quote a value that has spaces in it. For example: `get-sum a=1 b=1`.
        "#]],
        );
        check(
            "get-sum {\"a\": }",
            expect![[r#"
            The JSON for `get-sum` cannot be read: expected value at line 1 column 7.
        "#]],
        );
        check(
            "\u{202e}",
            expect![[r#"
            I do not know `\u{202e}`. `help` lists everything.
        "#]],
        );
    }

    #[test]
    fn help_lists_what_there_is() {
        expect![[r#"
            Each line is one call. Several lines run one after the other.

            - `read README.md`: a file; `read README.md 1-20` is some lines of it
            - `list src`: what is in a folder
            - `find *.rs`: files by their names
            - `search TODO in src`: text in files
            - `run cargo test`: a command; also `$ cargo test`
            - `write notes.txt: Buy milk.`: a whole file; longer text goes below `write notes.txt`, fenced or to the end
            - `edit notes.txt milk => bread`: a part of a file; several lines go below `edit notes.txt`, as `- old` and `+ new`
            - `delete notes.txt`: a file
            - `move notes.txt to old/notes.txt`: a file or folder
            - `fetch https://example.org/`: a page of the web
            - `think The test comes first.`: a thought, kept
            - `plan: read it; change it; test it`: a plan, shown
            - `help`: this list

            Any tool by its name, with `key=value` or one JSON object:

            - `get-sum a=1 b=1`
        "#]].assert_eq(&all(&sample::tools()));
        expect![[r#"
            Each line is one call. Several lines run one after the other.

            - `help`: this list
        "#]]
        .assert_eq(&all(&Registry::new()));
    }
}
