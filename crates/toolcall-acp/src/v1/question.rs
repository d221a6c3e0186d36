//! Renders the items of a question as v1 content: every command, every diff, everything else it touches.
//! It must not omit or hide anything; characters that a diff does not show are named beside it.

use serde_json::Value;
use toolcall::text::{clean_block, clean_line};
use toolcall::{Command, OutputBudget, Question, QuestionItem, Rule, Touch};

use super::content::{ContentItem, named, on_one_line, push_all};
use super::output::fenced;

/// How much of an input is shown; `rawInput` has all of it.
const INPUT: OutputBudget = OutputBudget {
    head: 6 * 1024,
    tail: 2 * 1024,
};

/// The longest label of an option. A longer rule is cut there, and shown in full as a note.
pub(crate) const MAX_LABEL_LENGTH: usize = 160;

/// Returns everything that the user needs to see before answering.
pub(crate) fn shown(question: &Question) -> Vec<ContentItem<'_>> {
    let mut renderer = QuestionRenderer::default();
    for item in question.items() {
        renderer.add(item);
    }
    let mut items = renderer.finish();
    items.extend(rules_in_full(&question.offers).map(ContentItem::note));
    items
}

/// Returns a note for each rule that does not fit into its label.
fn rules_in_full(offers: &[Rule]) -> impl Iterator<Item = String> {
    let is_cut = |rule: &&Rule| clean_line(&rule.text, MAX_LABEL_LENGTH) != *rule.text;
    let offers = offers.iter().filter(is_cut);
    offers.map(|rule| format!("\"Always\" means: {}", on_one_line(&rule.text)))
}

/// Collects the content of a question. Consecutive short lines become one note.
#[derive(Default)]
struct QuestionRenderer<'a> {
    items: Vec<ContentItem<'a>>,
    lines: Vec<String>,
}

impl<'a> QuestionRenderer<'a> {
    fn add(&mut self, item: QuestionItem<'a>) {
        match item {
            QuestionItem::Touch(Touch::Runs(command)) => self.note(command_text(command)),
            QuestionItem::Touch(Touch::Reads(path)) => {
                self.line(format!("Reads `{}`", named(path)))
            }
            QuestionItem::Touch(Touch::Writes(path)) => {
                self.line(format!("Writes `{}`", named(path)));
            }
            QuestionItem::Touch(Touch::Deletes(path)) => {
                self.line(format!("Deletes `{}`", named(path)));
            }
            QuestionItem::Touch(Touch::Moves { from, to }) => {
                self.line(format!("Moves `{}` to `{}`", named(from), named(to)));
            }
            QuestionItem::Touch(Touch::Reaches(target)) => {
                self.line(format!("Reaches `{}`", on_one_line(target)));
            }
            QuestionItem::Touch(Touch::Unknown) => {
                self.line("May affect anything: the tool does not say what.".to_owned());
            }
            QuestionItem::NotUnderstood(why) => self.line(format!(
                "Not fully understood: {}; a shell would run it as it stands.",
                on_one_line(why)
            )),
            QuestionItem::Content(content) => {
                self.end_lines();
                push_all(&mut self.items, [content]);
            }
            QuestionItem::HiddenCharacters { path, found } => {
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                let (path, found) = (named(path), found.join(", "));
                self.note(format!("Hidden characters in `{path}`: {found}"));
            }
            QuestionItem::Input(input) => self.note(input_text(input)),
        }
    }

    fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    fn note(&mut self, text: String) {
        self.end_lines();
        self.items.push(ContentItem::note(text));
    }

    fn end_lines(&mut self) {
        if !self.lines.is_empty() {
            let lines = std::mem::take(&mut self.lines);
            self.items.push(ContentItem::note(lines.join("\n")));
        }
    }

    fn finish(mut self) -> Vec<ContentItem<'a>> {
        self.end_lines();
        self.items
    }
}

fn command_text(command: &Command) -> String {
    let text = fenced(&clean_block(&command.text), "sh");
    let mut text_with_env = format!("{text}\nin `{}`", named(&command.cwd));
    for (name, value) in &command.env {
        let variable = on_one_line(&format!("{name}={value}"));
        text_with_env += &format!("\nwith `{variable}`");
    }
    text_with_env
}

fn input_text(input: &Value) -> String {
    let text = clean_block(&format!("{input:#}"));
    fenced(&INPUT.fit(&text).unwrap_or(text), "json")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;
    use std::sync::Arc;
    use toolcall::{CallId, FileEdit, Intent, Kind, Prepared, QuestionId, RuleName, SessionId};

    use super::*;

    fn check(intent: Intent, expected: Expect) {
        let input = Arc::new(json!({"a": 1}));
        let question = Question {
            id: QuestionId::new("q"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            subject: Arc::new(Prepared { input, intent }),
            offers: Vec::new(),
            because: RuleName::new("a test"),
        };
        let items = serde_json::to_value(shown(&question)).expect("JSON");
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
                in `/w`
                --
                Not fully understood: nobody has read it; a shell would run it as it stands."#]],
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
