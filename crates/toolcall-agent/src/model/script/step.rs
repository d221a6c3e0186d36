//! A script as values: turns, their steps, and how fast they are written.
//! It knows neither the file it came from nor how it is played.

use std::sync::Arc;
use std::time::Duration;

use super::expectation::Expectation;
use crate::model::Usage;

/// What is played for one prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    /// The text that a prompt has to contain. Without one it is played in its order.
    pub(super) when: Option<String>,
    pub(super) steps: Vec<Step>,
}

impl Turn {
    /// The steps of one answer, from 0. Each answer ends with calls, but for the last.
    pub(super) fn answer(&self, number: usize) -> &[Step] {
        let mut answers = self.steps.split_inclusive(|step| match step.deed {
            Deed::Call(..) => true,
            Deed::Say(..) | Deed::Think(..) => false,
            Deed::Usage(_) | Deed::Pause(_) | Deed::Expect(_) => false,
        });
        answers.nth(number).unwrap_or_default()
    }
}

/// One step, and the line of the file it stands in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) deed: Deed,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Deed {
    Say(String, Pace),
    Think(String, Pace),
    /// Calls that are made at once.
    Call(Vec<PlannedCall>, Pace),
    Usage(Usage),
    Pause(Duration),
    Expect(Expectation),
}

impl Deed {
    /// Takes no longer than it must.
    pub(super) fn hurry(&mut self) {
        match self {
            Deed::Say(_, pace) | Deed::Think(_, pace) | Deed::Call(_, pace) => {
                pace.delay = Duration::ZERO;
            }
            Deed::Pause(pause) => *pause = Duration::ZERO,
            Deed::Usage(_) | Deed::Expect(_) => {}
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
pub(super) struct Pace {
    pub(super) pieces: usize,
    pub(super) delay: Duration,
}

impl Pace {
    /// All at once.
    pub(super) const AT_ONCE: Pace = Pace {
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
        Pace { pieces, delay }.cut(text)
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut(3, "abcdefg"), ["ab", "cd", "efg"]);
        assert_eq!(cut(2, "äöü"), ["ä", "öü"]);
        assert_eq!(cut(9, "ab"), ["a", "b"]);
        assert_eq!(cut(3, ""), [""]);
        assert_eq!(Pace::AT_ONCE.cut("abc"), ["abc"]);
    }
}
