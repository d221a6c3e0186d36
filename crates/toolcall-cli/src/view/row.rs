//! Turns an event into rows of symbol, word and text.
//! It chooses what is worth a row; `line.rs` does the layout.

use anstyle::Style;
use toolcall::{
    Decision, Effect, Ending, Event, Exit, Finish, FormReply, Judge, Printed, Progress, Remembered,
    ToolCall,
};

use super::pluralize;
use super::style::{ATTENTION, BAD, BUSY, DIM, GOOD, PLAIN};

const BAR: usize = 20;
/// How many lines of one output event are shown.
const MAX_OUTPUT_LINES: usize = 40;

/// One row of an event.
#[derive(Debug)]
pub(crate) struct EventRow {
    pub(crate) symbol: &'static str,
    pub(crate) word: &'static str,
    pub(crate) style: Style,
    pub(crate) text_style: Style,
    pub(crate) text: String,
    pub(crate) detail: String,
}

impl EventRow {
    fn new(symbol: &'static str, word: &'static str, style: Style, text: &str) -> Self {
        Self {
            symbol,
            word,
            style,
            text_style: PLAIN,
            text: text.to_owned(),
            detail: String::new(),
        }
    }

    fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// Returns the rows of an event; none if the next event repeats it.
pub(crate) fn rows(call: &ToolCall, event: &Event) -> Vec<EventRow> {
    let title = call.title();
    let row = match event {
        Event::Announced(announced) => match announced.input {
            Some(_) => EventRow::new("·", "announced", PLAIN, title),
            None => EventRow::new("…", "writing", DIM, title),
        },
        Event::InputGrew(growth) => {
            EventRow::new("…", "writing", DIM, title).with_detail(pluralize(growth.bytes, "byte"))
        }
        Event::InputArrived(_) => EventRow::new("·", "written", PLAIN, title),
        Event::Prepared(_) => return Vec::new(),
        Event::Asked(question) => {
            let row = EventRow::new("?", "asked", ATTENTION, title);
            // The protocol does not transmit the rule.
            match question.because.as_str() {
                "" => row,
                rule => row.with_detail(format!("rule `{rule}`")),
            }
        }
        Event::Decided(decision) => decided(decision, title),
        Event::FormAsked(question) => {
            let by = format!("by `{}`", question.form.by());
            EventRow::new("?", "form", ATTENTION, title).with_detail(by)
        }
        Event::FormAnswered(answer) => form_answered(&answer.reply, title),
        Event::Started => EventRow::new("▸", "running", BUSY, title),
        Event::Progressed(progress) => progressed(call.progress().unwrap_or(progress)),
        Event::Showed(_) => EventRow::new("▸", "showing", BUSY, title),
        Event::Printed(printed) => return printed_lines(call, *printed),
        Event::Heartbeat(beat) => EventRow::new("▸", "alive", DIM, title)
            .with_detail(format!("silent for {:.0?}", beat.quiet)),
        Event::Held(reason) => {
            EventRow::new("‖", "paused", ATTENTION, title).with_detail(&**reason)
        }
        Event::Resumed => EventRow::new("▸", "resumed", BUSY, title),
        Event::Planned(plan) => EventRow::new("▸", "planned", BUSY, title)
            .with_detail(pluralize(plan.entries.len(), "step")),
        Event::Noted { key, .. } => EventRow::new("▸", "noted", DIM, title).with_detail(&**key),
        Event::Located(locations) => {
            let count = pluralize(locations.len(), "location");
            EventRow::new("▸", "located", DIM, title).with_detail(count)
        }
        Event::Exited(exit) => exited(*exit, title),
        Event::Restated(_) => restated(call, title),
        Event::StatusUnknown(status) => {
            EventRow::new("?", "unknown", ATTENTION, title).with_detail(&**status)
        }
        Event::Finished(finish) => finished(finish, title),
    };
    vec![row]
}

/// Returns the detail of an event, for lists that show its name.
pub(crate) fn event_detail(call: &ToolCall, event: &Event) -> String {
    if let Event::Printed(printed) = event {
        return pluralize(printed.to.saturating_sub(printed.from), "byte");
    }
    let first = rows(call, event).into_iter().next();
    first.map(|row| row.detail).unwrap_or_default()
}

/// Returns the row of a changed description; while the input is streamed, it says so.
fn restated(call: &ToolCall, title: &str) -> EventRow {
    match (&call.announced().input, call.input()) {
        (None, None) => EventRow::new("…", "writing", DIM, title),
        (None, Some(_)) => EventRow::new("·", "written", PLAIN, title),
        (Some(_), _) => EventRow::new("·", "described", DIM, title),
    }
}

fn exited(exit: Exit, title: &str) -> EventRow {
    let how = match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    };
    EventRow::new("▸", "exited", DIM, title).with_detail(how)
}

fn decided(decision: &Decision, title: &str) -> EventRow {
    let by = match &decision.by {
        Judge::Rule(rule) => format!("rule `{rule}`"),
        Judge::Person(Remembered::Once) => "answered: this once".to_owned(),
        Judge::Person(Remembered::Kept(_)) => "answered: always".to_owned(),
        Judge::Person(Remembered::NotKept { why, .. }) => {
            format!("answered; not remembered: {why}")
        }
        Judge::Unseen => "the agent itself".to_owned(),
    };
    match decision.effect {
        Effect::Allow => EventRow::new("✓", "allowed", GOOD, title).with_detail(by),
        Effect::Deny => EventRow::new("✗", "refused", BAD, title).with_detail(by),
    }
}

fn form_answered(reply: &FormReply, title: &str) -> EventRow {
    match reply {
        FormReply::Accepted(fields) => EventRow::new("✓", "filled in", GOOD, title)
            .with_detail(pluralize(fields.len(), "field")),
        FormReply::Declined { reason } => {
            let why = reason.as_deref().unwrap_or_default();
            EventRow::new("✗", "declined", ATTENTION, title).with_detail(why)
        }
        FormReply::Cancelled => EventRow::new("■", "dismissed", ATTENTION, title),
    }
}

fn progressed(progress: &Progress) -> EventRow {
    let message = progress.message().unwrap_or_default();
    let bar = match progress.fraction() {
        Some(fraction) => bar(fraction),
        None => format!("{} so far", progress.current()),
    };
    EventRow::new("▸", "progress", BUSY, &bar).with_detail(message)
}

fn bar(fraction: f64) -> String {
    let full = ((fraction * BAR as f64).round() as usize).min(BAR);
    let (done, open) = ("█".repeat(full), "░".repeat(BAR - full));
    format!("{done}{open} {:>3.0}%", fraction * 100.0)
}

fn printed_lines(call: &ToolCall, printed: Printed) -> Vec<EventRow> {
    let bytes = call.output().range(printed);
    let text = String::from_utf8_lossy(&bytes);
    let row = |line: &str| EventRow {
        text_style: DIM,
        ..EventRow::new("│", "output", DIM, line)
    };
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MAX_OUTPUT_LINES {
        return lines.into_iter().map(row).collect();
    }
    // Beginning and end are enough of a large output.
    let (first, rest) = lines.split_at(MAX_OUTPUT_LINES / 2);
    let (omitted, last) = rest.split_at(rest.len() - MAX_OUTPUT_LINES / 2);
    let note = format!("… {} …", pluralize(omitted.len(), "more line"));
    let all = first
        .iter()
        .copied()
        .chain([&*note])
        .chain(last.iter().copied());
    all.map(row).collect()
}

fn finished(finish: &Finish, title: &str) -> EventRow {
    let row = |symbol, word, style| EventRow::new(symbol, word, style, title);
    match &finish.ending {
        Ending::Completed => row("✓", "completed", GOOD),
        Ending::Failed { .. } => row("✗", "failed", BAD),
        Ending::Denied { .. } => row("✗", "denied", BAD),
        Ending::Cancelled { .. } => row("■", "cancelled", ATTENTION),
        Ending::TimedOut { .. } => row("■", "timed out", BAD),
        Ending::Interrupted { .. } => row("■", "broken off", BAD),
    }
}
