//! The demo as people see it: what the model says as titles, and under them what happens to its calls.
//! It shows what the client hears and waits for nothing.

use std::collections::HashMap;

use anstyle::Style;
use toolcall::{CallId, Event, Plan, PlanStatus, Reader as _, Ticket, ToolCall};

use crate::client::Viewer;
use crate::screen::Screen;
use crate::view::{BOLD, BUSY, DIM, GOOD, INDENT, Lines, one_line, painted, width};

/// The view.
pub(super) struct Scenes {
    lines: Lines,
    screen: Screen,
    /// What is being said.
    title: String,
    /// How each call was described last.
    described: HashMap<CallId, Description>,
}

/// What a line says of a call beside what happened.
#[derive(PartialEq)]
struct Description {
    title: String,
    is_written: bool,
}

impl Scenes {
    /// Shows the person's prompt first.
    pub(super) fn new(screen: Screen, prompt: &str) -> Self {
        let scenes = Self {
            lines: Lines::new(screen.clone(), width()),
            screen,
            title: String::new(),
            described: HashMap::new(),
        };
        scenes.show(&format!("> {prompt}"), "  ", DIM);
        scenes
    }

    /// A title is complete when something else comes.
    fn show_title(&mut self) {
        let title = std::mem::take(&mut self.title);
        if !title.trim().is_empty() {
            self.screen.line("");
            self.show(title.trim(), "   ", BOLD);
        }
    }

    /// A description is worth a line if that line says something new.
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
            self.screen.line(&painted(style, &line));
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

    fn said(&mut self, text: &str) {
        self.title.push_str(text);
    }

    fn planned(&mut self, plan: &Plan) {
        self.show_title();
        for entry in &plan.entries {
            let (symbol, style) = match entry.status {
                PlanStatus::Pending => ("·", DIM),
                PlanStatus::InProgress => ("▸", BUSY),
                PlanStatus::Completed => ("✓", GOOD),
            };
            let step = format!("{symbol} {}", one_line(&entry.content));
            self.screen
                .line(&format!("{INDENT}{}", painted(style, &step)));
        }
    }

    /// Below what was typed, if anything was asked.
    fn interrupted(&mut self) {
        self.screen.line("");
    }

    fn over(&mut self) {
        self.show_title();
    }
}
