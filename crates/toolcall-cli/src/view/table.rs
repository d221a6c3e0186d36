//! The table at the end: each call, how it ended, and where its time went.
//! It collects endings and draws them once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anstyle::Style;
use toolcall::{Ending, Event, Moment, Reader, Ticket, Timing, ToolCall};

use super::style::{ATTENTION, BAD, BOLD, GOOD, painted};

/// The calls that ended. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Table(Arc<Mutex<Vec<Ended>>>);

struct Ended {
    id: String,
    tool: String,
    ending: Ending,
    timing: Timing,
    announced_at: Moment,
}

impl Reader for Table {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        let Event::Finished(finish) = event else {
            return;
        };
        let ended = Ended {
            id: call.id().to_string(),
            tool: toolcall::text::clean_line(call.tool(), 12),
            ending: finish.ending.clone(),
            timing: call.timing(call.announced_at()),
            announced_at: call.announced_at(),
        };
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.push(ended);
    }
}

impl Table {
    /// The table, line by line, in the order of the announcements.
    pub(crate) fn lines(&self) -> Vec<String> {
        let head = format!(
            "  {:<7} {:<12} {:<11} {:>7} {:>7} {:>7}",
            "call", "tool", "ending", "queued", "waited", "ran"
        );
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.sort_by_key(|row| row.announced_at);
        let head = painted(BOLD, &head);
        std::iter::once(head).chain(rows.iter().map(line)).collect()
    }
}

fn line(row: &Ended) -> String {
    let ending = painted(style(&row.ending), &format!("{:<11}", row.ending.name()));
    let Timing {
        queued,
        waited,
        ran,
        total: _,
    } = row.timing;
    format!(
        "  {:<7} {:<12} {ending} {:>7} {:>7} {:>7}",
        row.id,
        row.tool,
        span(queued),
        span(waited),
        span(ran)
    )
}

fn style(ending: &Ending) -> Style {
    match ending {
        Ending::Completed => GOOD,
        Ending::Failed { .. } | Ending::Denied { .. } => BAD,
        Ending::Cancelled { .. } | Ending::TimedOut { .. } | Ending::Interrupted { .. } => {
            ATTENTION
        }
    }
}

fn span(span: Duration) -> String {
    match span {
        Duration::ZERO => "-".to_owned(),
        short if short < Duration::from_millis(1) => format!("{} µs", short.as_micros()),
        medium if medium < Duration::from_secs(1) => format!("{} ms", medium.as_millis()),
        long => format!("{:.2} s", long.as_secs_f64()),
    }
}
