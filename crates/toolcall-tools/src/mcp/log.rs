//! What a server printed and logged, kept within a bound for people.
//! The oldest goes first; nothing here is shown to a model unless a call failed.

use std::collections::VecDeque;

use toolcall::text::clean_line;

const MOST_LINES: usize = 200;
const LONGEST_LINE: usize = 400;

/// The last lines, oldest first.
#[derive(Debug, Default)]
pub(super) struct Log {
    lines: VecDeque<String>,
    /// How many of them are of the life that the server lives now.
    recent: usize,
}

impl Log {
    pub(super) fn push(&mut self, line: &str) {
        let line = clean_line(line, LONGEST_LINE);
        if line.is_empty() {
            return;
        }
        if self.lines.len() == MOST_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        self.recent = (self.recent + 1).min(MOST_LINES);
    }

    /// A new life begins.
    pub(super) fn begin(&mut self) {
        self.recent = 0;
    }

    /// The last few of this life.
    pub(super) fn last_words(&self, most: usize) -> Vec<String> {
        self.tail(most.min(self.recent))
    }

    /// The last few of them.
    pub(super) fn tail(&self, most: usize) -> Vec<String> {
        let skipped = self.lines.len().saturating_sub(most);
        self.lines.iter().skip(skipped).cloned().collect()
    }
}
