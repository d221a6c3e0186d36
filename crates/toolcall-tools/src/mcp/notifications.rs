//! What a server says unasked: progress, logs, that its tools changed.
//! It is handed to whoever it concerns, bounded, and never answered.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;
use toolcall::{Progress, RunContext};

use super::log::Log;

/// Progress may be told before it is known whose it is.
const MOST_EARLY: usize = 64;

/// Who listens to one connection.
pub(super) struct Notifications {
    log: Arc<ServerLog>,
    listeners: Mutex<Listeners>,
    changed: Notify,
}

/// The log of a server, over all its connections. Values that are secret are not in it.
#[derive(Default)]
pub(super) struct ServerLog {
    lines: Mutex<Log>,
    secrets: Vec<Arc<str>>,
}

#[derive(Default)]
struct Listeners {
    scopes: HashMap<String, RunContext>,
    early: VecDeque<(String, Progress)>,
}

/// A call that listens; it stops when this is dropped.
pub(super) struct Listening {
    ears: Arc<Notifications>,
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

    /// From now on the progress of this token is told to this call.
    pub(super) fn listen(self: &Arc<Self>, token: String, scope: &RunContext) -> Listening {
        let early = {
            let mut listeners = self.listeners.lock();
            listeners.scopes.insert(token.clone(), scope.clone());
            let found = listeners
                .early
                .iter()
                .rposition(|(whose, _)| *whose == token);
            found.and_then(|place| listeners.early.remove(place))
        };
        if let Some((_, progress)) = early {
            scope.progress(progress);
        }
        Listening {
            ears: self.clone(),
            token,
        }
    }

    /// The call that began last.
    pub(super) fn latest(&self) -> Option<RunContext> {
        let listeners = self.listeners.lock();
        let latest = listeners
            .scopes
            .iter()
            .max_by_key(|(token, _)| token.parse::<u64>().ok());
        latest.map(|(_, scope)| scope.clone())
    }

    pub(super) fn hear_progress(&self, token: String, progress: Progress) {
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

    /// A notification, if it is one that is heard here.
    pub(super) fn hear(&self, method: &str, params: &Value) {
        match method {
            "notifications/progress" => {
                if let Some((token, progress)) = progress_of(params) {
                    self.hear_progress(token, progress);
                }
            }
            "notifications/message" => self.log.push(&logged(params)),
            "notifications/tools/list_changed" => self.hear_change(),
            _ => {}
        }
    }

    pub(super) fn hear_change(&self) {
        self.changed.notify_one();
    }

    /// Waits until the server says that its tools changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.ears.listeners.lock().scopes.remove(&self.token);
    }
}

impl ServerLog {
    /// A log that hides these values.
    pub(super) fn hiding(secrets: impl Iterator<Item = Arc<str>>) -> Self {
        // A short value is in every other word, and no secret.
        Self {
            lines: Mutex::default(),
            secrets: secrets.filter(|secret| secret.len() >= 6).collect(),
        }
    }

    pub(super) fn push(&self, line: &str) {
        self.lines.lock().push(&self.hidden(line));
    }

    /// A new life of the server begins.
    pub(super) fn begin(&self) {
        self.lines.lock().begin();
    }

    /// The last lines of this life.
    pub(super) fn last_words(&self, most: usize) -> Vec<String> {
        self.lines.lock().last_words(most)
    }

    pub(super) fn tail(&self, most: usize) -> Vec<String> {
        self.lines.lock().tail(most)
    }

    /// A text without the secrets.
    pub(super) fn hidden(&self, text: &str) -> String {
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

/// Servers give a number back as a text now and then.
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
