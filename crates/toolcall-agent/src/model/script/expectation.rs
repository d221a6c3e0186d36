//! What a script expects of the prompt or of the result of a call.
//! It compares and reports the difference; the player decides what follows.

use toolcall::text::clean_line;
use toolcall::{Content, ModelResult, ResourceBody};

use crate::model::conversation_state::{self, ConversationState};

/// How much of the actual text a message quotes, in characters.
const LONGEST_QUOTE: usize = 400;

/// An expectation of a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expectation {
    /// The prompt contains this text.
    Prompt(String),
    /// The result of a call.
    Result(ExpectedResult),
}

/// What is expected of a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpectedResult {
    pub(super) call: CallSelector,
    pub(super) ending: Option<ExpectedEnding>,
    /// A text that the result contains.
    pub(super) contains: Option<String>,
}

/// CallSelector of the latest calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallSelector {
    /// By its place, from 1.
    Number(usize),
    /// By its id.
    Id(String),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedEnding {
    Well,
    Badly,
}

impl Expectation {
    /// Checks the expectation, or returns what there was instead.
    pub(super) fn check(&self, place: &ConversationState<'_>) -> Result<(), String> {
        match self {
            Expectation::Prompt(text) => {
                let prompt = conversation_state::texts(place.prompt);
                contains(&prompt, text, "the prompt")
            }
            Expectation::Result(expected) => expected.check(place.results),
        }
    }
}

impl ExpectedResult {
    fn check(&self, results: &[ModelResult]) -> Result<(), String> {
        let name = self.call.name();
        let Some(result) = self.call.find(results) else {
            let ids: Vec<String> = results.iter().map(|r| format!("`{}`", r.id)).collect();
            let there = if ids.is_empty() {
                "no call was made right before".to_owned()
            } else {
                format!("there were those of {}", ids.join(", "))
            };
            return Err(format!("expected a result of {name}, but {there}"));
        };
        let (text, ended) = (text(result), ExpectedEnding::of(result));
        if let Some(expected) = self.ending.filter(|expected| *expected != ended) {
            let (expected, ended) = (expected.word(), ended.word());
            let quote = clean_line(&text, LONGEST_QUOTE);
            return Err(format!(
                "expected {name} to {expected}, but it {ended}ed: `{quote}`"
            ));
        }
        let wanted = self.contains.as_deref().unwrap_or_default();
        contains(&text, wanted, &format!("the result of {name}"))
    }
}

impl CallSelector {
    fn find<'a>(&self, results: &'a [ModelResult]) -> Option<&'a ModelResult> {
        match self {
            CallSelector::Number(number) => results.get(number.checked_sub(1)?),
            CallSelector::Id(id) => results.iter().find(|result| *result.id == **id),
        }
    }

    fn name(&self) -> String {
        match self {
            CallSelector::Number(number) => format!("call {number}"),
            CallSelector::Id(id) => format!("the call `{}`", clean_line(id, LONGEST_QUOTE)),
        }
    }
}

impl ExpectedEnding {
    fn of(result: &ModelResult) -> Self {
        if result.is_error {
            ExpectedEnding::Badly
        } else {
            ExpectedEnding::Well
        }
    }

    fn word(self) -> &'static str {
        match self {
            ExpectedEnding::Well => "succeed",
            ExpectedEnding::Badly => "fail",
        }
    }
}

fn contains(text: &str, wanted: &str, name: &str) -> Result<(), String> {
    if text.contains(wanted) {
        return Ok(());
    }
    let (wanted, text) = (
        clean_line(wanted, LONGEST_QUOTE),
        clean_line(text, LONGEST_QUOTE),
    );
    Err(format!(
        "expected `{wanted}` in {name}, but it was: `{text}`"
    ))
}

/// Returns the text of a result.
fn text(result: &ModelResult) -> String {
    let texts = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Resource(resource) => match &resource.body {
            ResourceBody::Text(text) => Some(&**text),
            ResourceBody::Base64(_) => None,
        },
        Content::Link(link) => Some(&*link.uri),
        Content::Image(_) | Content::Audio(_) | Content::Edit(_) | Content::Terminal(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::model::Message;

    fn results() -> Vec<ModelResult> {
        let result = |id: &str, text: &str, is_error| ModelResult {
            id: id.into(),
            content: vec![text.into(), Content::image("image/png", b"x")],
            is_error,
        };
        vec![
            result("a", "two lines", false),
            result("b", "no such file", true),
        ]
    }

    fn check(expectation: Expectation) -> Result<(), String> {
        let prompt = Message::Person(vec!["fix the bug".into()]);
        let messages = [prompt, Message::Results(results())];
        expectation.check(&ConversationState::of(&messages).expect("something to answer"))
    }

    fn expected(
        call: CallSelector,
        ending: Option<ExpectedEnding>,
        contains: Option<&str>,
    ) -> Expectation {
        Expectation::Result(ExpectedResult {
            call,
            ending,
            contains: contains.map(str::to_owned),
        })
    }

    fn fails(expectation: Expectation, expect: Expect) {
        expect.assert_eq(&check(expectation).expect_err("it does not hold"));
    }

    #[test]
    fn what_holds_says_nothing() {
        let id = |id: &str| CallSelector::Id(id.to_owned());
        for expectation in [
            Expectation::Prompt("the bug".to_owned()),
            expected(
                CallSelector::Number(1),
                Some(ExpectedEnding::Well),
                Some("two"),
            ),
            expected(id("b"), Some(ExpectedEnding::Badly), Some("no such")),
            expected(id("b"), None, None),
        ] {
            assert_eq!(check(expectation), Ok(()));
        }
    }

    #[test]
    fn what_does_not_hold_says_what_there_was() {
        fails(
            Expectation::Prompt("cat".to_owned()),
            expect!["expected `cat` in the prompt, but it was: `fix the bug`"],
        );
        fails(
            expected(CallSelector::Number(1), Some(ExpectedEnding::Badly), None),
            expect!["expected call 1 to fail, but it succeeded: `two lines`"],
        );
        fails(
            expected(CallSelector::Number(2), Some(ExpectedEnding::Well), None),
            expect!["expected call 2 to succeed, but it failed: `no such file`"],
        );
        fails(
            expected(CallSelector::Number(1), None, Some("three")),
            expect!["expected `three` in the result of call 1, but it was: `two lines`"],
        );
        fails(
            expected(CallSelector::Number(3), None, None),
            expect!["expected a result of call 3, but there were those of `a`, `b`"],
        );
        fails(
            expected(CallSelector::Id("c".to_owned()), None, None),
            expect!["expected a result of the call `c`, but there were those of `a`, `b`"],
        );
        fails(
            expected(CallSelector::Number(0), None, None),
            expect!["expected a result of call 0, but there were those of `a`, `b`"],
        );
    }
}
