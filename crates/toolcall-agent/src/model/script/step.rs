//! The values of a script: turns, steps, and how fast text is written.
//! It knows neither the file it came from nor how it is played.

use std::sync::Arc;
use std::time::Duration;

use super::expectation::Expectation;
use crate::model::Usage;

/// The steps for one prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScriptTurn {
    /// The text that a prompt must contain; without one the turn is played in order.
    pub(super) when: Option<String>,
    pub(super) steps: Vec<ScriptStep>,
}

impl ScriptTurn {
    /// Returns the steps of one reply, counted from 0. Every reply but the last ends with calls.
    pub(super) fn answer(&self, number: usize) -> &[ScriptStep] {
        let mut answers = self.steps.split_inclusive(|step| match step.deed {
            StepAction::Call(..) => true,
            StepAction::Say(..) | StepAction::Think(..) => false,
            StepAction::Usage(_) | StepAction::Pause(_) | StepAction::Expect(_) => false,
        });
        answers.nth(number).unwrap_or_default()
    }
}

/// One step and its line in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScriptStep {
    pub(super) line: usize,
    pub(super) deed: StepAction,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepAction {
    Say(String, WritingPace),
    Think(String, WritingPace),
    /// Calls that are made at once.
    Call(Vec<PlannedCall>, WritingPace),
    Usage(Usage),
    Pause(Duration),
    Expect(Expectation),
}

impl StepAction {
    /// Removes the pauses.
    pub(super) fn hurry(&mut self) {
        match self {
            StepAction::Say(_, pace) | StepAction::Think(_, pace) | StepAction::Call(_, pace) => {
                pace.delay = Duration::ZERO;
            }
            StepAction::Pause(pause) => *pause = Duration::ZERO,
            StepAction::Usage(_) | StepAction::Expect(_) => {}
        }
    }
}

/// A call as it will be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedCall {
    /// Its id, if the script gives one.
    pub(super) id: Option<Arc<str>>,
    pub(super) tool: Arc<str>,
    /// The text of its input, which need not be JSON.
    pub(super) input: String,
}

/// In how many pieces something is written, and how long it takes from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WritingPace {
    pub(super) pieces: usize,
    pub(super) delay: Duration,
}

impl WritingPace {
    /// All at once.
    pub(super) const AT_ONCE: WritingPace = WritingPace {
        pieces: 1,
        delay: Duration::ZERO,
    };

    /// The text in pieces of about the same length. There are never more than it has characters,
    /// and there is always one.
    pub(super) fn cut(self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let pieces = self.pieces.clamp(1, chars.len().max(1));
        let edge = |piece: usize| piece * chars.len() / pieces;
        let piece = |at: usize| chars[edge(at)..edge(at + 1)].iter().collect();
        (0..pieces).map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: usize, text: &str) -> Vec<String> {
        let delay = Duration::ZERO;
        WritingPace { pieces, delay }.cut(text)
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut(3, "abcdefg"), ["ab", "cd", "efg"]);
        assert_eq!(cut(2, "äöü"), ["ä", "öü"]);
        assert_eq!(cut(9, "ab"), ["a", "b"]);
        assert_eq!(cut(3, ""), [""]);
        assert_eq!(WritingPace::AT_ONCE.cut("abc"), ["abc"]);
    }
}
