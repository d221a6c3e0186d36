//! What one event says to a person: a symbol, a word, a text.
//! It chooses what is worth a line; how the line looks is not its business.

use anstyle::Style;
use toolcall::{
    Decision, Effect, Ending, Event, Exit, Finish, FormReply, Judge, Printed, Progress, Remembered,
    ToolCall,
};

use super::style::{ATTENTION, BAD, BUSY, DIM, GOOD, PLAIN};

const BAR: usize = 20;
/// How many lines of one piece of output are shown.
const MOST_AT_ONCE: usize = 40;

/// What one event says.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) symbol: &'static str,
    pub(crate) word: &'static str,
    pub(crate) style: Style,
    pub(crate) text_style: Style,
    pub(crate) text: String,
    pub(crate) detail: String,
}

impl Row {
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

    fn with(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// The rows of one event; none where the next event says it better.
pub(crate) fn rows(call: &ToolCall, event: &Event) -> Vec<Row> {
    let title = call.title();
    let row = match event {
        Event::Announced(announced) => match announced.input {
            Some(_) => Row::new("·", "announced", PLAIN, title),
            None => Row::new("…", "writing", DIM, title),
        },
        Event::InputGrew(growth) => {
            Row::new("…", "writing", DIM, title).with(format!("{} bytes", growth.bytes))
        }
        Event::InputArrived(_) => Row::new("·", "written", PLAIN, title),
        Event::Prepared(_) => return Vec::new(),
        Event::Asked(question) => {
            let row = Row::new("?", "asked", ATTENTION, title);
            // Over the wire nobody says which rule it was.
            match question.because.as_str() {
                "" => row,
                rule => row.with(format!("rule `{rule}`")),
            }
        }
        Event::Decided(decision) => decided(decision, title),
        Event::FormAsked(question) => {
            let by = format!("by `{}`", question.form.by());
            Row::new("?", "form", ATTENTION, title).with(by)
        }
        Event::FormAnswered(answer) => form_answered(&answer.reply, title),
        Event::Started => Row::new("▸", "running", BUSY, title),
        Event::Progressed(progress) => progressed(call.progress().unwrap_or(progress)),
        Event::Showed(_) => Row::new("▸", "showing", BUSY, title),
        Event::Printed(printed) => return printed_lines(call, *printed),
        Event::Heartbeat(beat) => {
            Row::new("▸", "alive", DIM, title).with(format!("silent for {:.0?}", beat.quiet))
        }
        Event::Held(reason) => Row::new("‖", "paused", ATTENTION, title).with(&**reason),
        Event::Resumed => Row::new("▸", "resumed", BUSY, title),
        Event::Planned(plan) => {
            Row::new("▸", "planned", BUSY, title).with(format!("{} steps", plan.entries.len()))
        }
        Event::Noted { key, .. } => Row::new("▸", "noted", DIM, title).with(&**key),
        Event::Located(locations) => {
            let places = match locations.len() {
                1 => "1 place".to_owned(),
                many => format!("{many} places"),
            };
            Row::new("▸", "located", DIM, title).with(places)
        }
        Event::Exited(exit) => exited(*exit, title),
        Event::Restated(_) => restated(call, title),
        Event::StatusUnknown(status) => Row::new("?", "unknown", ATTENTION, title).with(&**status),
        Event::Finished(finish) => finished(finish, title),
    };
    vec![row]
}

/// What one event says beside its name.
pub(crate) fn event_detail(call: &ToolCall, event: &Event) -> String {
    if let Event::Printed(printed) = event {
        return format!("{} bytes", printed.to.saturating_sub(printed.from));
    }
    let first = rows(call, event).into_iter().next();
    first.map(|row| row.detail).unwrap_or_default()
}

/// An input that was not there at first is told as it grows and when it is there.
fn restated(call: &ToolCall, title: &str) -> Row {
    match (&call.announced().input, call.input()) {
        (None, None) => Row::new("…", "writing", DIM, title),
        (None, Some(_)) => Row::new("·", "written", PLAIN, title),
        (Some(_), _) => Row::new("·", "described", DIM, title),
    }
}

fn exited(exit: Exit, title: &str) -> Row {
    let how = match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    };
    Row::new("▸", "exited", DIM, title).with(how)
}

fn decided(decision: &Decision, title: &str) -> Row {
    let by = match &decision.by {
        Judge::Rule(rule) => format!("rule `{rule}`"),
        Judge::Person(Remembered::Once) => "answered: this once".to_owned(),
        Judge::Person(Remembered::Kept(_)) => "answered: always".to_owned(),
        Judge::Person(Remembered::NotKept { why, .. }) => format!("answered; not kept: {why}"),
        Judge::Unseen => "the agent itself".to_owned(),
    };
    match decision.effect {
        Effect::Allow => Row::new("✓", "allowed", GOOD, title).with(by),
        Effect::Deny => Row::new("✗", "refused", BAD, title).with(by),
    }
}

fn form_answered(reply: &FormReply, title: &str) -> Row {
    match reply {
        FormReply::Accepted(fields) => {
            Row::new("✓", "filled in", GOOD, title).with(format!("{} fields", fields.len()))
        }
        FormReply::Declined { reason } => {
            let why = reason.as_deref().unwrap_or_default();
            Row::new("✗", "declined", ATTENTION, title).with(why)
        }
        FormReply::Cancelled => Row::new("■", "put aside", ATTENTION, title),
    }
}

fn progressed(progress: &Progress) -> Row {
    let message = progress.message().unwrap_or_default();
    let bar = match progress.fraction() {
        Some(fraction) => bar(fraction),
        None => format!("{} so far", progress.current()),
    };
    Row::new("▸", "progress", BUSY, &bar).with(message)
}

fn bar(fraction: f64) -> String {
    let full = ((fraction * BAR as f64).round() as usize).min(BAR);
    let (done, open) = ("█".repeat(full), "░".repeat(BAR - full));
    format!("{done}{open} {:>3.0}%", fraction * 100.0)
}

fn printed_lines(call: &ToolCall, printed: Printed) -> Vec<Row> {
    let bytes = call.output().range(printed);
    let text = String::from_utf8_lossy(&bytes);
    let row = |line: &str| Row {
        text_style: DIM,
        ..Row::new("│", "output", DIM, line)
    };
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MOST_AT_ONCE {
        return lines.into_iter().map(row).collect();
    }
    // Nobody reads what rushes by.
    let (first, rest) = lines.split_at(MOST_AT_ONCE / 2);
    let (passed, last) = rest.split_at(rest.len() - MOST_AT_ONCE / 2);
    let passed = format!("… {} more lines …", passed.len());
    let all = first
        .iter()
        .copied()
        .chain([&*passed])
        .chain(last.iter().copied());
    all.map(row).collect()
}

fn finished(finish: &Finish, title: &str) -> Row {
    let row = |symbol, word, style| Row::new(symbol, word, style, title);
    match &finish.ending {
        Ending::Completed => row("✓", "completed", GOOD),
        Ending::Failed { .. } => row("✗", "failed", BAD),
        Ending::Denied { .. } => row("✗", "denied", BAD),
        Ending::Cancelled { .. } => row("■", "cancelled", ATTENTION),
        Ending::TimedOut { .. } => row("■", "timed out", BAD),
        Ending::Interrupted { .. } => row("■", "broken off", BAD),
    }
}
