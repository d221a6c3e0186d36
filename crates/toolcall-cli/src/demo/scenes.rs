//! The text output of the demo: the model's messages as titles, and below them the events of its calls.
//! It never waits.

use std::collections::HashMap;

use anstyle::Style;
use toolcall::{CallId, Event, Plan, PlanStatus, Reader as _, Ticket, ToolCall};

use crate::client::Viewer;
use crate::screen::Screen;
use crate::view::{BOLD, BUSY, DIM, EventLines, GOOD, INDENT, one_line, paint, width};

/// The viewer of the demo.
pub(super) struct Scenes {
    lines: EventLines,
    screen: Screen,
    /// The message that is being received.
    title: String,
    /// The latest description of each call.
    described: HashMap<CallId, Description>,
}

/// The parts of a line that describe the call rather than the event.
#[derive(PartialEq)]
struct Description {
    title: String,
    is_written: bool,
}

impl Scenes {
    /// Creates the viewer and shows the user's prompt.
    pub(super) fn new(screen: Screen, prompt: &str) -> Self {
        let scenes = Self {
            lines: EventLines::new(screen.clone(), width()),
            screen,
            title: String::new(),
            described: HashMap::new(),
        };
        scenes.show(&format!("> {prompt}"), "  ", DIM);
        scenes
    }

    /// Shows the title. It is complete when anything else arrives.
    fn show_title(&mut self) {
        let title = std::mem::take(&mut self.title);
        if !title.trim().is_empty() {
            self.screen.line("");
            self.show(title.trim(), "   ", BOLD);
        }
    }

    /// Returns whether an event is worth a line: a restated description is not, if nothing changed.
    fn is_news(&mut self, call: &ToolCall, event: &Event) -> bool {
        let now = Description {
            title: call.title().to_owned(),
            is_written: call.input().is_some(),
        };
        let is_same = self.described.get(call.id()) == Some(&now);
        self.described.insert(call.id().clone(), now);
        !(is_same && matches!(event, Event::Restated(_)))
    }

    fn show(&self, text: &str, indent: &str, style: Style) {
        let options = textwrap::Options::new(width()).subsequent_indent(indent);
        for line in textwrap::wrap(&toolcall::text::clean_block(text), options) {
            self.screen.line(&paint(style, &line));
        }
    }
}

impl Viewer for Scenes {
    fn event(&mut self, call: &ToolCall, event: &Event) {
        self.show_title();
        if self.is_news(call, event) {
            self.lines.read(call, event, &Ticket::default());
        }
    }

    fn message(&mut self, text: &str) {
        self.title.push_str(text);
    }

    fn plan(&mut self, plan: &Plan) {
        self.show_title();
        for entry in &plan.entries {
            let (symbol, style) = match entry.status {
                PlanStatus::Pending => ("·", DIM),
                PlanStatus::InProgress => ("▸", BUSY),
                PlanStatus::Completed => ("✓", GOOD),
            };
            let step = format!("{symbol} {}", one_line(&entry.content));
            self.screen
                .line(&format!("{INDENT}{}", paint(style, &step)));
        }
    }

    /// Ends the line of a prompt, if there is one.
    fn interrupted(&mut self) {
        self.screen.line("");
    }

    fn finish(&mut self) {
        self.show_title();
    }
}
