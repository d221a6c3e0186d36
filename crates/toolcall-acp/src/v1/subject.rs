//! What a person who is asked about a call is shown: every command, every diff, what else it touches.
//! Nothing hidden: what cannot be seen in a text is named beside it.

use serde_json::Value;
use toolcall::text::{clean_block, clean_line, is_hidden};
use toolcall::{
    Change, Command, Content, FileBody, FileEdit, Intent, OutputBudget, Prepared, Question, Rule,
    Touch,
};

use super::content::{Item, named, on_one_line, push_all};
use super::printed::fenced;

/// Inputs are shown up to here; the whole is in `rawInput`.
const INPUT: OutputBudget = OutputBudget {
    head: 6 * 1024,
    tail: 2 * 1024,
};
const MOST_WARNINGS: usize = 8;

/// Everything a person needs to see before saying yes.
pub(crate) fn shown(question: &Question) -> Vec<Item<'_>> {
    let mut items = intended(&question.subject);
    items.extend(rules_in_full(&question.offers).map(Item::note));
    items
}

/// A label longer than this is cut; the rule then stands in full beside it.
pub(crate) const LONGEST_LABEL: usize = 160;

/// Rules that do not fit into their label.
fn rules_in_full(offers: &[Rule]) -> impl Iterator<Item = String> {
    let is_cut = |rule: &&Rule| clean_line(&rule.text, LONGEST_LABEL) != *rule.text;
    let offers = offers.iter().filter(is_cut);
    offers.map(|rule| format!("\"Always\" means: {}", on_one_line(&rule.text)))
}

fn intended(prepared: &Prepared) -> Vec<Item<'_>> {
    let intent = &prepared.intent;
    let mut items = Vec::new();
    let commands = commands(intent);
    items.extend(commands.map(|command| Item::note(command_text(command))));
    let touched: Vec<String> = others(intent).collect();
    if !touched.is_empty() {
        items.push(Item::note(touched.join("\n")));
    }
    push_all(&mut items, &intent.preview);
    items.extend(edits(intent).filter_map(warning).map(Item::note));
    if items.is_empty() || is_vague(intent) {
        items.push(Item::note(input_text(&prepared.input)));
    }
    items
}

fn commands(intent: &Intent) -> impl Iterator<Item = &Command> {
    intent.touches.iter().filter_map(|touch| match touch {
        Touch::Runs(command) => Some(command),
        Touch::Reads(_)
        | Touch::Writes(_)
        | Touch::Deletes(_)
        | Touch::Moves { .. }
        | Touch::Reaches(_)
        | Touch::Unknown => None,
    })
}

fn command_text(command: &Command) -> String {
    let text = fenced(&clean_block(&command.text), "sh");
    let mut said = format!("{text}\nin `{}`", named(&command.cwd));
    for (name, value) in &command.env {
        let variable = on_one_line(&format!("{name}={value}"));
        said += &format!("\nwith `{variable}`");
    }
    said
}

fn edits(intent: &Intent) -> impl Iterator<Item = &FileEdit> {
    intent.preview.iter().filter_map(Content::as_edit)
}

/// What it touches that no command and no diff shows.
fn others(intent: &Intent) -> impl Iterator<Item = String> {
    let is_shown = |touch: &Touch| edits(intent).any(|edit| edit.touch() == *touch);
    let touches = intent.touches.iter().filter(move |touch| !is_shown(touch));
    touches.filter_map(|touch| {
        Some(match touch {
            Touch::Reads(path) => format!("Reads `{}`", named(path)),
            Touch::Writes(path) => format!("Writes `{}`", named(path)),
            Touch::Deletes(path) => format!("Deletes `{}`", named(path)),
            Touch::Moves { from, to } => format!("Moves `{}` to `{}`", named(from), named(to)),
            Touch::Reaches(target) => format!("Reaches `{}`", on_one_line(target)),
            Touch::Unknown => "May affect anything: the tool does not say what.".to_owned(),
            Touch::Runs(_) => return None,
        })
    })
}

/// Whether only its input tells what it does.
fn is_vague(intent: &Intent) -> bool {
    let tells_nothing = |touch: &Touch| matches!(touch, Touch::Reaches(_) | Touch::Unknown);
    let told = commands(intent).count() + edits(intent).count();
    told == 0 && intent.touches.iter().any(tells_nothing)
}

fn input_text(input: &Value) -> String {
    let text = clean_block(&format!("{input:#}"));
    fenced(&INPUT.fit(&text).unwrap_or(text), "json")
}

/// Names the hidden characters that an edit brings into a file.
fn warning(edit: &FileEdit) -> Option<String> {
    let text = match &edit.change {
        Change::Added {
            after: FileBody::Text(after),
        } => after,
        Change::Modified {
            after: FileBody::Text(after),
            ..
        } => after,
        Change::Added { .. }
        | Change::Modified { .. }
        | Change::Deleted { .. }
        | Change::Moved { .. } => return None,
    };
    let is_seen = |c: char| !is_hidden(c) || matches!(c, '\n' | '\t' | '\r');
    let lines = text.lines().enumerate();
    let found: Vec<String> = lines
        .flat_map(|(at, line)| line.chars().map(move |c| (at + 1, c)))
        .filter(|(_, c)| !is_seen(*c))
        .take(MOST_WARNINGS)
        .map(|(line, c)| format!("U+{:04X} in line {line}", u32::from(c)))
        .collect();
    let path = named(&edit.path);
    (!found.is_empty()).then(|| format!("Hidden characters in `{path}`: {}", found.join(", ")))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;
    use std::sync::Arc;
    use toolcall::Kind;

    use super::*;

    fn check(intent: Intent, expected: Expect) {
        let prepared = Prepared {
            input: Arc::new(json!({"a": 1})),
            intent,
        };
        let items = serde_json::to_value(intended(&prepared)).expect("JSON");
        let texts: Vec<_> = items
            .as_array()
            .expect("items")
            .iter()
            .map(|item| match item["content"]["text"].as_str() {
                Some(text) => text.to_owned(),
                None => format!("{} {}", item["type"], item["path"]),
            })
            .collect();
        expected.assert_eq(&texts.join("\n--\n"));
    }

    #[test]
    fn a_command_is_shown_whole_and_cannot_hide_anything() {
        let command = Command::unread("echo ```\u{202e} && rm -rf /", "/w");
        check(
            Intent::new(Kind::Execute, "harmless").running(command),
            expect![[r#"
                ````sh
                echo ```\u{202e} && rm -rf /
                ````
                in `/w`"#]],
        );
    }

    #[test]
    fn every_diff_is_shown_and_what_hides_in_it_is_named() {
        let intent = Intent::new(Kind::Edit, "Edit")
            .editing(FileEdit::added("/w/a", "x\ny\u{200b}z"))
            .editing(FileEdit::modified("/w/b", "old", "new"));
        check(
            intent,
            expect![[r#"
                "diff" "/w/a"
                --
                "diff" "/w/b"
                --
                Hidden characters in `/w/a`: U+200B in line 2"#]],
        );
    }

    #[test]
    fn what_else_is_touched_is_said() {
        let intent = Intent::new(Kind::Fetch, "Fetch")
            .touching(Touch::Reaches("example.com".into()))
            .touching(Touch::Writes("/w/page".into()));
        check(
            intent,
            expect![[r#"
                Reaches `example.com`
                Writes `/w/page`
                --
                ```json
                {
                  "a": 1
                }
                ```"#]],
        );
    }

    #[test]
    fn a_line_break_does_not_pass_for_the_next_thing_that_is_touched() {
        let intent = Intent::new(Kind::Fetch, "Fetch")
            .touching(Touch::Writes("/w/a`\nReads `/w/b".into()))
            .touching(Touch::Reaches("x\ny".into()));
        check(
            intent,
            expect![[r#"
                Writes `/w/a`\u{a}Reads `/w/b`
                Reaches `x\u{a}y`
                --
                ```json
                {
                  "a": 1
                }
                ```"#]],
        );
    }

    #[test]
    fn a_rule_that_is_shown_in_full_hides_nothing() {
        let rule = Rule {
            text: "running \"a\u{202e}b\"".into(),
            lifetime: toolcall::Lifetime::Session,
        };
        let shown: Vec<_> = rules_in_full(&[rule]).collect();
        assert_eq!(shown, [r#""Always" means: running "a\u{202e}b""#]);
    }
}
