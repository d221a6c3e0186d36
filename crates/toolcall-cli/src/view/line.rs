//! Prints every event as a line of text, as it happens.
//! It queues lines and never waits.

use std::time::Instant;

use toolcall::text::clean_line;
use toolcall::{Event, Reader, Ticket, ToolCall};

use super::row::{EventRow, rows};
use super::style::{DIM, paint};
use super::{question_lines, wrap};
use crate::screen::{OutputState, Screen};

/// The columns before the text: time, call, symbol, word.
const PREFIX: usize = 31;
const MIN_DETAIL: usize = 6;

/// A reader that prints events as lines of text.
pub(crate) struct EventLines {
    screen: Screen,
    began: Instant,
    width: usize,
    output_state: OutputState,
}

impl Reader for EventLines {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        if self.output_state == OutputState::Closed {
            return;
        }
        let rows = rows(call, event);
        let lines = rows.iter().map(|row| self.line(call, row));
        let mut states = lines
            .chain(self.below(event))
            .map(|line| self.screen.line(&line));
        if states.any(|state| state == OutputState::Closed) {
            self.output_state = OutputState::Closed;
        }
    }
}

impl EventLines {
    /// Creates a reader for lines of at most this width; times count from now.
    pub(crate) fn new(screen: Screen, width: usize) -> Self {
        let began = Instant::now();
        Self {
            screen,
            began,
            width,
            output_state: OutputState::Open,
        }
    }

    fn line(&self, call: &ToolCall, row: &EventRow) -> String {
        let time = format!("{:>6.2}s", self.began.elapsed().as_secs_f64());
        let id = format!("{:<7}", call.id().as_str());
        let word = format!("{} {:<10}", row.symbol, row.word);
        let room = self.width.saturating_sub(PREFIX);
        let text = clean_line(&row.text, room);
        let left = room.saturating_sub(text.chars().count() + 2);
        let detail = if left < MIN_DETAIL || row.detail.is_empty() {
            String::new()
        } else {
            format!("  {}", clean_line(&row.detail, left))
        };
        format!(
            "{} {} {} {}{}",
            paint(DIM, &time),
            paint(DIM, &id),
            paint(row.style, &word),
            paint(row.text_style, &text),
            paint(DIM, &detail)
        )
    }

    /// Returns the lines below an event: the contents of a question, or the reason of an ending.
    fn below(&self, event: &Event) -> Vec<String> {
        if let Event::Asked(question) = event {
            return question_lines(question, self.width);
        }
        let Event::Finished(finish) = event else {
            return Vec::new();
        };
        match finish.ending.reason() {
            Some(reason) => wrap(&reason, self.width),
            None => Vec::new(),
        }
    }
}
