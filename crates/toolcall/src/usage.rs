//! Logs one line of JSON for every call that ended: tool, duration, ending.
//! The writer runs on its own thread, so that a slow one never delays a call.

use std::io::Write;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use serde_json::json;

use crate::call::ToolCall;
use crate::event::Event;
use crate::journal::{Reader, Ticket};

const MOST_WAITING: usize = 1024;

/// A reader that writes `{"event":"tool_used","tool":…,"duration_ms":…,"success":…,"ending":…}`.
pub struct UsageLog {
    lines: Option<SyncSender<String>>,
    lost: u64,
    writer: Option<JoinHandle<()>>,
}

impl UsageLog {
    /// Creates a log that writes lines here. If the writer falls far behind, lines are dropped and
    /// the next one contains their number.
    pub fn new(mut writer: impl Write + Send + 'static) -> Self {
        let (lines, waiting) = sync_channel::<String>(MOST_WAITING);
        let write = move || {
            for line in waiting {
                if writeln!(writer, "{line}")
                    .and_then(|()| writer.flush())
                    .is_err()
                {
                    return;
                }
            }
        };
        Self {
            lines: Some(lines),
            lost: 0,
            writer: thread::Builder::new()
                .name("usage-log".into())
                .spawn(write)
                .ok(),
        }
    }

    fn line(&self, call: &ToolCall) -> String {
        let timing = call.timing(call.announced_at());
        let ending = call.ending();
        let mut line = json!({
            "event": "tool_used",
            "tool": &**call.tool(),
            "duration_ms": u64::try_from(timing.ran.as_millis()).unwrap_or(u64::MAX),
            "success": ending.is_some_and(|ending| ending.is_success()),
            "ending": ending.map(|ending| ending.name()),
        });
        if self.lost > 0 {
            line["lost"] = json!(self.lost);
        }
        line.to_string()
    }
}

impl Reader for UsageLog {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        let (Event::Finished(_), Some(lines)) = (event, &self.lines) else {
            return;
        };
        match lines.try_send(self.line(call)) {
            Ok(()) => self.lost = 0,
            Err(TrySendError::Full(_)) => self.lost += 1,
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

/// Waits until every accepted line is written.
impl Drop for UsageLog {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _writer_panicked = writer.join();
        }
    }
}
