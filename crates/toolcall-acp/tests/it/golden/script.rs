//! Replies of scripted clients: yes, no, a file, a terminal, cancel.
//! Each reacts to one line and keeps no state.

use serde_json::{Value, json};

use crate::golden::harness::ClientReplies;

/// Answers nothing.
pub(crate) fn silent(_line: &Value, _out: &mut ClientReplies) {}

/// Allows every call once.
pub(crate) fn allows(line: &Value, out: &mut ClientReplies) {
    if asks(line) {
        out.answer(line, chosen("allow-once"));
    }
}

/// Rejects every call once.
pub(crate) fn refuses(line: &Value, out: &mut ClientReplies) {
    if asks(line) {
        out.answer(line, chosen("reject-once"));
    }
}

/// Whether a line asks for permission.
pub(crate) fn asks(line: &Value) -> bool {
    line["method"] == "session/request_permission"
}

/// Whether a line asks for permission for this call.
pub(crate) fn asks_about(line: &Value, call: &str) -> bool {
    asks(line) && line["params"]["toolCall"]["toolCallId"] == call
}

/// Whether a line reports this status of this call.
pub(crate) fn reports_status(line: &Value, call: &str, status: &str) -> bool {
    let update = &line["params"]["update"];
    update["toolCallId"] == call && update["status"] == status
}

/// Returns the answer that chooses this option.
pub(crate) fn chosen(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// Sends `session/cancel`.
pub(crate) fn cancel(out: &mut ClientReplies) {
    out.notify("session/cancel", json!({"sessionId": "s1"}));
}

/// Serves `terminal/*` with a command that prints `prints` and exits with `exit`.
pub(crate) fn terminal(line: &Value, out: &mut ClientReplies, prints: &str, exit: &Value) {
    let result = match line["method"].as_str() {
        Some("terminal/create") => json!({"terminalId": "term-1"}),
        Some("terminal/wait_for_exit") => exit.clone(),
        Some("terminal/output") => {
            json!({"output": prints, "truncated": false, "exitStatus": exit})
        }
        Some("terminal/kill" | "terminal/release") => json!({}),
        _ => return,
    };
    out.answer(line, result);
}
