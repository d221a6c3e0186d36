//! Receives a server's notifications: progress, log messages, changed tools.
//! It sends nothing back, and buffers a bounded amount.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;
use toolcall::{Progress, RunContext};

use super::log::LogLines;

/// How many progress notifications to keep for calls that have not subscribed yet.
const MOST_EARLY: usize = 64;

/// Passes the notifications of one connection to its calls, its log and the task that lists its tools.
pub(super) struct Notifications {
    log: Arc<ServerLog>,
    listeners: Mutex<ProgressListeners>,
    changed: Notify,
}

/// The log of a server, across all its connections, with secrets redacted.
#[derive(Default)]
pub(super) struct ServerLog {
    lines: Mutex<LogLines>,
    secrets: Vec<Arc<str>>,
}

#[derive(Default)]
struct ProgressListeners {
    scopes: HashMap<String, RunContext>,
    early: VecDeque<(String, Progress)>,
}

/// A call's subscription to its progress. Ends when dropped.
pub(super) struct ProgressSubscription {
    notifications: Arc<Notifications>,
    token: String,
}

impl Notifications {
    pub(super) fn new(log: Arc<ServerLog>) -> Self {
        Self {
            log,
            listeners: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub(super) fn log(&self) -> &ServerLog {
        &self.log
    }

    /// Reports the progress of this token to this call from now on.
    pub(super) fn subscribe(
        self: &Arc<Self>,
        token: String,
        scope: &RunContext,
    ) -> ProgressSubscription {
        let early = {
            let mut listeners = self.listeners.lock();
            listeners.scopes.insert(token.clone(), scope.clone());
            let found = listeners
                .early
                .iter()
                .rposition(|(other, _)| *other == token);
            found.and_then(|index| listeners.early.remove(index))
        };
        if let Some((_, progress)) = early {
            scope.progress(progress);
        }
        ProgressSubscription {
            notifications: self.clone(),
            token,
        }
    }

    /// Returns the call that subscribed last.
    pub(super) fn latest(&self) -> Option<RunContext> {
        let listeners = self.listeners.lock();
        let latest = listeners
            .scopes
            .iter()
            .max_by_key(|(token, _)| token.parse::<u64>().ok());
        latest.map(|(_, scope)| scope.clone())
    }

    pub(super) fn receive_progress(&self, token: String, progress: Progress) {
        let mut listeners = self.listeners.lock();
        if let Some(scope) = listeners.scopes.get(&token).cloned() {
            drop(listeners);
            scope.progress(progress);
            return;
        }
        if listeners.early.len() == MOST_EARLY {
            listeners.early.pop_front();
        }
        listeners.early.push_back((token, progress));
    }

    /// Handles a notification; ignores methods it does not know.
    pub(super) fn receive(&self, method: &str, params: &Value) {
        match method {
            "notifications/progress" => {
                if let Some((token, progress)) = progress_of(params) {
                    self.receive_progress(token, progress);
                }
            }
            "notifications/message" => self.log.push(&logged(params)),
            "notifications/tools/list_changed" => self.notify_tools_changed(),
            _ => {}
        }
    }

    pub(super) fn notify_tools_changed(&self) {
        self.changed.notify_one();
    }

    /// Waits until the server reports that its tools changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        self.notifications
            .listeners
            .lock()
            .scopes
            .remove(&self.token);
    }
}

impl ServerLog {
    /// Creates a log that redacts these values.
    pub(super) fn with_secrets(secrets: impl Iterator<Item = Arc<str>>) -> Self {
        // Redacting a short value would garble ordinary words, and it is unlikely to be a secret.
        Self {
            lines: Mutex::default(),
            secrets: secrets.filter(|secret| secret.len() >= 6).collect(),
        }
    }

    pub(super) fn push(&self, line: &str) {
        self.lines.lock().push(&self.redacted(line));
    }

    /// Marks the start of a new run of the server.
    pub(super) fn start_run(&self) {
        self.lines.lock().start_run();
    }

    /// Returns up to `most` of the last lines of the current run.
    pub(super) fn recent(&self, most: usize) -> Vec<String> {
        self.lines.lock().recent(most)
    }

    pub(super) fn tail(&self, most: usize) -> Vec<String> {
        self.lines.lock().tail(most)
    }

    /// Replaces each secret in a text with `…`.
    pub(super) fn redacted(&self, text: &str) -> String {
        let hide = |text: String, secret: &Arc<str>| text.replace(&**secret, "…");
        self.secrets.iter().fold(text.to_owned(), hide)
    }
}

fn progress_of(params: &Value) -> Option<(String, Progress)> {
    let token = token_of(params.get("progressToken")?)?;
    let number = |key: &str| params.get(key).and_then(Value::as_f64);
    let mut progress = Progress::at(number("progress").unwrap_or_default());
    if let Some(total) = number("total") {
        progress = progress.of(total);
    }
    if let Some(message) = params.get("message").and_then(Value::as_str) {
        progress = progress.saying(message);
    }
    Some((token, progress))
}

/// Returns a progress token as text, because some servers return a number as a string.
pub(super) fn token_of(token: &Value) -> Option<String> {
    match token {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn logged(params: &Value) -> String {
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let level = text("level").unwrap_or("log");
    match params.get("data") {
        Some(Value::String(data)) => format!("[{level}] {data}"),
        Some(data) => format!("[{level}] {data}"),
        None => format!("[{level}]"),
    }
}
