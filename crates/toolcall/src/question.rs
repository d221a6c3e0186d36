//! A permission question as the user sees it: items that show what would be done, and options to
//! choose from.
//! Plain values, built only here; every client renders all of them in its own way.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::approver::Answer;
use crate::command::Reading;
use crate::content::{Content, FileBody, FileChange, FileEdit};
use crate::event::{Prepared, Question, Rule};
use crate::intent::{Intent, Origin, Touch};
use crate::text::is_hidden;

const MOST_HIDDEN: usize = 8;

/// One thing that the user must see before answering.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionItem<'a> {
    /// A command, a path, a host, a server's tool, or an unknown effect. Touches of a shown file
    /// edit are left out.
    Touch(&'a Touch),
    /// Why the command before it is not fully understood: a shell would run its text unchanged.
    NotUnderstood(&'a str),
    /// What the tool shows, such as a diff or a text.
    Content(&'a Content),
    /// Hidden characters that a file edit writes.
    HiddenCharacters {
        /// The file.
        path: &'a Path,
        /// The first few of them.
        found: Vec<HiddenCharacter>,
    },
    /// The input, where the other items do not fully show what is done.
    Input(&'a Value),
}

/// A hidden character in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenCharacter {
    /// The character.
    pub character: char,
    /// Its line, counted from 1.
    pub line: usize,
}

impl fmt::Display for HiddenCharacter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "U+{:04X} in line {}",
            u32::from(self.character),
            self.line
        )
    }
}

/// One answer that the user may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionOption<'a> {
    /// Allows this call.
    AllowOnce,
    /// Allows this call and remembers the rule.
    AllowAlways {
        /// The rule's number among the offered rules, counted from 1.
        number: usize,
        /// The rule.
        rule: &'a Rule,
    },
    /// Rejects this call.
    RejectOnce,
    /// Rejects this call and remembers the rule.
    RejectAlways(&'a Rule),
}

impl QuestionOption<'_> {
    /// Returns the label of the option. `show` shortens or escapes the text of a rule.
    pub fn label(&self, show: impl Fn(&str) -> String) -> String {
        let always = |verb: &str, rule: &Rule| {
            format!(
                "{verb} {}: {}",
                rule.lifetime.description(),
                show(&rule.text)
            )
        };
        match self {
            QuestionOption::AllowOnce => "Allow once".to_owned(),
            QuestionOption::AllowAlways { rule, .. } => always("Always allow", rule),
            QuestionOption::RejectOnce => "Reject".to_owned(),
            QuestionOption::RejectAlways(rule) => always("Always reject", rule),
        }
    }

    /// Returns the answer of this option. Only a rejection has a reason.
    pub fn answer(&self, reason: Option<Arc<str>>) -> Answer {
        match *self {
            QuestionOption::AllowOnce => Answer::AllowOnce,
            QuestionOption::AllowAlways { rule, .. } => Answer::AllowAlways(rule.clone()),
            QuestionOption::RejectOnce => Answer::RejectOnce { reason },
            QuestionOption::RejectAlways(rule) => Answer::RejectAlways {
                rule: rule.clone(),
                reason,
            },
        }
    }
}

impl Question {
    /// Returns everything that the user must see, in order: commands, other touches, what the tool
    /// shows, characters hidden in it, the input.
    pub fn items(&self) -> Vec<QuestionItem<'_>> {
        let intent = &self.subject.intent;
        let is_command = |touch: &&Touch| matches!(touch, Touch::Runs(_));
        let (commands, others): (Vec<&Touch>, Vec<&Touch>) =
            intent.touches.iter().partition(is_command);
        let is_in_diff = |touch: &&Touch| edits(intent).any(|edit| edit.touch() == **touch);
        let others = others.into_iter().filter(|touch| !is_in_diff(touch));
        let mut items: Vec<_> = commands.into_iter().flat_map(command).collect();
        items.extend(others.map(QuestionItem::Touch));
        items.extend(intent.preview.iter().map(QuestionItem::Content));
        items.extend(edits(intent).filter_map(hidden));
        if needs_input(&self.subject) {
            items.push(QuestionItem::Input(&self.subject.input));
        }
        items
    }

    /// Returns the options that the user may choose from, in order.
    pub fn options(&self) -> Vec<QuestionOption<'_>> {
        let offers = (1..).zip(&self.offers);
        let always = offers.map(|(number, rule)| QuestionOption::AllowAlways { number, rule });
        let never = self.offers.first().map(QuestionOption::RejectAlways);
        std::iter::once(QuestionOption::AllowOnce)
            .chain(always)
            .chain([QuestionOption::RejectOnce])
            .chain(never)
            .collect()
    }
}

fn command(touch: &Touch) -> impl Iterator<Item = QuestionItem<'_>> {
    let doubt = match touch {
        Touch::Runs(command) => match &command.reading {
            Reading::Unclear(why) => Some(QuestionItem::NotUnderstood(why)),
            Reading::Understood(_) => None,
        },
        Touch::Reads(_)
        | Touch::Writes(_)
        | Touch::Deletes(_)
        | Touch::Moves { .. }
        | Touch::Reaches(_)
        | Touch::Unknown => None,
    };
    std::iter::once(QuestionItem::Touch(touch)).chain(doubt)
}

fn edits(intent: &Intent) -> impl Iterator<Item = &FileEdit> {
    intent.preview.iter().filter_map(Content::as_edit)
}

/// Returns whether the input must be shown. A server's tool may do anything with its input. For
/// other tools the input says more than the touches if they touch nothing, anything, or only a
/// host.
fn needs_input(prepared: &Prepared) -> bool {
    let intent = &prepared.intent;
    let touches = |is: fn(&Touch) -> bool| intent.touches.iter().any(is);
    let is_of_server = matches!(intent.tool.origin, Origin::Mcp(_));
    let is_told =
        edits(intent).next().is_some() || touches(|touch| matches!(touch, Touch::Runs(_)));
    let is_open = intent.touches.is_empty() || touches(|touch| matches!(touch, Touch::Reaches(_)));
    is_of_server || touches(|touch| *touch == Touch::Unknown) || (is_open && !is_told)
}

fn hidden(edit: &FileEdit) -> Option<QuestionItem<'_>> {
    let text = match &edit.change {
        FileChange::Added {
            after: FileBody::Text(after),
        }
        | FileChange::Modified {
            after: FileBody::Text(after),
            ..
        } => after,
        FileChange::Added { .. }
        | FileChange::Modified { .. }
        | FileChange::Deleted { .. }
        | FileChange::Moved { .. } => return None,
    };
    let is_hidden = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\r');
    let characters = (1..)
        .zip(text.lines())
        .flat_map(|(line, text)| {
            text.chars()
                .map(move |character| HiddenCharacter { character, line })
        })
        .filter(|found| is_hidden(found.character));
    let found: Vec<HiddenCharacter> = characters.take(MOST_HIDDEN).collect();
    let path = edit.path.as_path();
    (!found.is_empty()).then_some(QuestionItem::HiddenCharacters { path, found })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::command::Command;
    use crate::event::{Lifetime, RuleName};
    use crate::ids::{CallId, QuestionId, SessionId};
    use crate::intent::Kind;

    fn question(intent: Intent) -> Question {
        let rule = |lifetime| Rule {
            text: "it".into(),
            lifetime,
        };
        let input = Arc::new(json!({"a": 1}));
        Question {
            id: QuestionId::new("q"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            subject: Arc::new(Prepared { input, intent }),
            offers: vec![rule(Lifetime::Session), rule(Lifetime::Everywhere)],
            because: RuleName::new("a test"),
        }
    }

    fn check(intent: Intent, expected: Expect) {
        let question = question(intent);
        let items: Vec<String> = question
            .items()
            .iter()
            .map(|item| match item {
                QuestionItem::Touch(Touch::Runs(command)) => format!("runs {}", command.text),
                QuestionItem::Touch(touch) => format!("{touch:?}"),
                QuestionItem::NotUnderstood(why) => format!("not understood: {why}"),
                QuestionItem::Content(Content::Edit(edit)) => format!("diff of {:?}", edit.path),
                QuestionItem::Content(content) => format!("{content:?}"),
                QuestionItem::HiddenCharacters { path, found } => {
                    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
                    format!("hidden in {path:?}: {}", found.join(", "))
                }
                QuestionItem::Input(input) => format!("input {input}"),
            })
            .collect();
        expected.assert_eq(&items.join("\n"));
    }

    fn intent() -> Intent {
        Intent::new(Kind::Other, "It")
    }

    #[test]
    fn a_command_comes_first_with_what_is_not_understood_of_it() {
        let intent = intent()
            .touching(Touch::Writes("/w/a".into()))
            .running(Command::unread("echo $A > a", "/w"));
        check(
            intent,
            expect![[r#"
                runs echo $A > a
                not understood: nobody has read it
                Writes("/w/a")"#]],
        );
    }

    #[test]
    fn a_touch_that_a_diff_shows_is_not_shown_twice_and_what_hides_in_it_is_named() {
        let intent = intent()
            .editing(FileEdit::added("/w/a", "x\ny\u{200b}z"))
            .editing(FileEdit::moved("/w/b", "/w/c"))
            .touching(Touch::Deletes("/w/a".into()));
        check(
            intent,
            expect![[r#"
                Deletes("/w/a")
                diff of "/w/a"
                diff of "/w/b"
                hidden in "/w/a": U+200B in line 2"#]],
        );
    }

    #[test]
    fn the_input_is_shown_unless_everything_is_said_without_it() {
        let input = |intent: Intent| {
            let question = question(intent);
            let input = QuestionItem::Input(&question.subject.input);
            question.items().contains(&input)
        };
        let command = || Command::unread("make", "/w");
        let mut of_server = intent().reading("/w/a").running(command());
        of_server.tool.origin = Origin::Mcp("files".into());
        let edit = || FileEdit::added("/w/a", "x");
        let reaching = || intent().touching(Touch::Reaches("example.org".into()));
        let shown = [
            intent(),
            intent().showing("a text"),
            reaching(),
            reaching().reading("/w/a"),
            intent().touching(Touch::Unknown).editing(edit()),
            of_server,
        ];
        assert_eq!(shown.map(input), [true; 6]);
        let left_out = [
            intent().reading("/w/a"),
            intent().editing(edit()),
            intent().running(command()),
            reaching().editing(edit()),
        ];
        assert_eq!(left_out.map(input), [false; 4]);
    }

    #[test]
    fn once_and_always_are_offered_each_way_with_the_rule_and_its_lifetime() {
        let question = question(intent());
        let label = |option: &QuestionOption<'_>| option.label(|rule| format!("<{rule}>"));
        let labels: Vec<String> = question.options().iter().map(label).collect();
        expect![[r#"
            Allow once
            Always allow in this session: <it>
            Always allow everywhere: <it>
            Reject
            Always reject in this session: <it>"#]]
        .assert_eq(&labels.join("\n"));
        let answers: Vec<Answer> = question
            .options()
            .iter()
            .map(|option| option.answer(Some("no".into())))
            .collect();
        let [session, everywhere] = [0, 1].map(|place| question.offers[place].clone());
        let expected = [
            Answer::AllowOnce,
            Answer::AllowAlways(session.clone()),
            Answer::AllowAlways(everywhere),
            Answer::reject_because("no"),
            Answer::RejectAlways {
                rule: session,
                reason: Some("no".into()),
            },
        ];
        assert_eq!(answers, expected);
    }
}
