//! Shows every event as a line for people, as it happens.
//! It hands lines to the screen and waits for nothing.

use std::time::Instant;

use toolcall::text::clean_line;
use toolcall::{Event, Reader, Ticket, ToolCall};

use super::row::{Row, rows};
use super::style::{DIM, painted};
use super::{subject, wrapped};
use crate::screen::{Audience, Screen};

/// The columns before the text: time, call, symbol, word.
const PREFIX: usize = 31;
const LEAST_DETAIL: usize = 6;

/// A reader that shows lines.
pub(crate) struct Lines {
    screen: Screen,
    began: Instant,
    width: usize,
    audience: Audience,
}

impl Reader for Lines {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        if self.audience == Audience::Gone {
            return;
        }
        let rows = rows(call, event);
        let lines = rows.iter().map(|row| self.line(call, row));
        let mut heard = lines
            .chain(self.below(event))
            .map(|line| self.screen.line(&line));
        if heard.any(|audience| audience == Audience::Gone) {
            self.audience = Audience::Gone;
        }
    }
}

impl Lines {
    /// Shows lines of at most this width; times count from now.
    pub(crate) fn new(screen: Screen, width: usize) -> Self {
        let began = Instant::now();
        Self {
            screen,
            began,
            width,
            audience: Audience::Listening,
        }
    }

    fn line(&self, call: &ToolCall, row: &Row) -> String {
        let time = format!("{:>6.2}s", self.began.elapsed().as_secs_f64());
        let id = format!("{:<7}", call.id().as_str());
        let word = format!("{} {:<10}", row.symbol, row.word);
        let room = self.width.saturating_sub(PREFIX);
        let text = clean_line(&row.text, room);
        let left = room.saturating_sub(text.chars().count() + 2);
        let detail = match left < LEAST_DETAIL || row.detail.is_empty() {
            true => String::new(),
            false => format!("  {}", clean_line(&row.detail, left)),
        };
        format!(
            "{} {} {} {}{}",
            painted(DIM, &time),
            painted(DIM, &id),
            painted(row.style, &word),
            painted(row.text_style, &text),
            painted(DIM, &detail)
        )
    }

    /// What belongs under the line: what would be done, or why it was not.
    fn below(&self, event: &Event) -> Vec<String> {
        if let Event::Asked(question) = event {
            return subject(question, self.width);
        }
        let Event::Finished(finish) = event else {
            return Vec::new();
        };
        match finish.ending.reason() {
            Some(reason) => wrapped(&reason, self.width),
            None => Vec::new(),
        }
    }
}
