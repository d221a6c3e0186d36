//! The last lines that a server printed or logged, for the user.
//! A model sees none of them unless a call failed.

use std::collections::VecDeque;

use toolcall::text::clean_line;

const MOST_LINES: usize = 200;
const LONGEST_LINE: usize = 400;

/// A bounded list of lines, oldest first.
#[derive(Debug, Default)]
pub(super) struct LogLines {
    lines: VecDeque<String>,
    /// How many of the lines are from the current run of the server.
    recent: usize,
}

impl LogLines {
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

    /// Marks the start of a new run of the server.
    pub(super) fn start_run(&mut self) {
        self.recent = 0;
    }

    /// Returns up to `most` of the last lines of the current run.
    pub(super) fn recent(&self, most: usize) -> Vec<String> {
        self.tail(most.min(self.recent))
    }

    /// Returns up to `most` of the last lines.
    pub(super) fn tail(&self, most: usize) -> Vec<String> {
        let skipped = self.lines.len().saturating_sub(most);
        self.lines.iter().skip(skipped).cloned().collect()
    }
}
