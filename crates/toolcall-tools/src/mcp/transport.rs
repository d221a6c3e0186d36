//! The stdio transport: decodes a server's lines as messages, and keeps results of tool requests as raw JSON.
//! It never ends a connection because of one bad line.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage,
    NumberOrString, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use toolcall::text::clean_line;

use super::lines::{IdScan, LONGEST_LINE, LineRead, LineReader};
use super::notifications::Notifications;

/// How many outgoing messages to queue for a server that does not read.
const MOST_WAITING: usize = 64;
/// After this many bad lines in a row the connection ends.
const MOST_BAD_LINES: usize = 1_000;
/// How many bad lines in a row are logged.
const BAD_LINES_LOGGED: usize = 20;

/// A transport with one JSON message per line.
pub(super) struct LineTransport<R> {
    lines: LineReader<R>,
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
    pending: Arc<Mutex<PendingRequests>>,
    notifications: Arc<Notifications>,
    bad_lines: usize,
}

/// The requests that have no response yet.
#[derive(Default)]
struct PendingRequests {
    /// Requests whose results are decoded leniently here: calls and listings.
    lenient: HashSet<RequestId>,
    /// Requests whose responses rmcp decodes.
    typed: HashSet<RequestId>,
}

/// How to decode a response.
enum ResponseRoute {
    Lenient(RequestId),
    Typed,
    Unknown,
}

/// The members of a message that decide how to decode it.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    pub(super) fn new(
        reader: R,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        notifications: Arc<Notifications>,
    ) -> Self {
        let (outgoing, waiting) = mpsc::channel(MOST_WAITING);
        tokio::spawn(write_all(writer, waiting));
        Self {
            lines: LineReader::new(reader, LONGEST_LINE),
            outgoing: Some(outgoing),
            pending: Arc::default(),
            notifications,
            bad_lines: 0,
        }
    }

    /// Decodes the current line; `None` if there is nothing to pass to the client.
    fn message(&mut self) -> Option<ServerJsonRpcMessage> {
        let line = self.lines.line();
        if line.is_empty() {
            return None;
        }
        let repaired;
        let text = match std::str::from_utf8(line) {
            Ok(text) => text,
            Err(_) => {
                repaired = String::from_utf8_lossy(line).into_owned();
                &repaired
            }
        };
        match serde_json::from_str::<Envelope<'_>>(text) {
            Ok(envelope) => {
                let message = self.dispatch(text, &envelope);
                self.bad_lines = 0;
                message
            }
            Err(error) => {
                let id = IdScan::of(line);
                let shown = clean_line(text, 200);
                self.bad_line(&format!("a line that is no message: {shown}"));
                self.fail(id, &format!("its answer is no valid JSON: {error}"))
            }
        }
    }

    fn dispatch(&self, text: &str, envelope: &Envelope<'_>) -> Option<ServerJsonRpcMessage> {
        match (&envelope.method, &envelope.id) {
            (Some(method), None) => self.notification(method, text, envelope),
            (Some(_), Some(id)) => self.request(text, id),
            (None, Some(id)) => self.answer(text, id, envelope),
            (None, None) => None,
        }
    }

    /// Handles a notification. Progress and log messages are not passed on, because rmcp spawns a task for each.
    fn notification(
        &self,
        method: &str,
        text: &str,
        envelope: &Envelope<'_>,
    ) -> Option<ServerJsonRpcMessage> {
        let params = envelope
            .params
            .and_then(|params| serde_json::from_str(params.get()).ok());
        self.notifications
            .receive(method, &params.unwrap_or(Value::Null));
        match method {
            "notifications/progress" | "notifications/message" => None,
            _ => serde_json::from_str(text).ok(),
        }
    }

    /// Decodes a request, or sends an error response if that fails, because the server waits for one.
    fn request(&self, text: &str, id: &Value) -> Option<ServerJsonRpcMessage> {
        let message = serde_json::from_str(text).ok();
        if message.is_none() {
            let refusal = serde_json::json!({
                "jsonrpc": "2.0",
                "id": id,
                "error": {"code": -32602, "message": "the request cannot be read"},
            });
            // If the queue is full, the server does not read, and the response is dropped.
            if let Some(outgoing) = &self.outgoing {
                let _ = outgoing.try_send(refusal.to_string().into_bytes());
            }
        }
        message
    }

    fn answer(
        &self,
        text: &str,
        id: &Value,
        envelope: &Envelope<'_>,
    ) -> Option<ServerJsonRpcMessage> {
        let request = match self.route(id) {
            ResponseRoute::Lenient(request) => request,
            ResponseRoute::Typed => return serde_json::from_str(text).ok(),
            ResponseRoute::Unknown => return None,
        };
        if let Some(error) = envelope.error {
            return Some(JsonRpcMessage::error(error_of(error), Some(request)));
        }
        let result = envelope.result.map(read_leniently);
        match result {
            Some(Ok(value)) => {
                let result = ServerResult::CustomResult(CustomResult::new(value));
                Some(JsonRpcMessage::response(result, request))
            }
            Some(Err(error)) => Some(unreadable(
                request,
                &format!("its answer cannot be read: {error}"),
            )),
            None => Some(unreadable(
                request,
                "its answer has neither a result nor an error",
            )),
        }
    }

    /// Returns how to decode the response with this id. Some servers return a number as a string.
    fn route(&self, id: &Value) -> ResponseRoute {
        let id = match id {
            Value::Number(number) => number.as_i64().map(NumberOrString::Number),
            Value::String(text) => Some(match text.parse() {
                Ok(number) => NumberOrString::Number(number),
                Err(_) => NumberOrString::String(text.as_str().into()),
            }),
            // An error without an id belongs to the last request.
            Value::Null => return ResponseRoute::Typed,
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let mut pending = self.pending.lock();
        match id {
            Some(id) if pending.lenient.remove(&id) => ResponseRoute::Lenient(id),
            Some(id) if pending.typed.remove(&id) => ResponseRoute::Typed,
            Some(_) | None => ResponseRoute::Unknown,
        }
    }

    /// Returns an error response for the pending request with this id, if there is one.
    fn fail(&self, id: Option<Value>, why: &str) -> Option<ServerJsonRpcMessage> {
        match self.route(&id?) {
            ResponseRoute::Lenient(request) => Some(unreadable(request, why)),
            ResponseRoute::Typed | ResponseRoute::Unknown => None,
        }
    }

    fn bad_line(&mut self, what: &str) {
        self.bad_lines += 1;
        if self.bad_lines <= BAD_LINES_LOGGED {
            self.notifications.log().push(what);
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.pending.lock().track(&item);
        let line = serde_json::to_vec(&item);
        let outgoing = self.outgoing.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let outgoing = outgoing.ok_or_else(closed)?;
            outgoing.send(line?).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while self.bad_lines < MOST_BAD_LINES {
            let message = match self.lines.next().await {
                LineRead::End => return None,
                LineRead::Line => self.message(),
                LineRead::TooLong(id) => {
                    let why = format!("its answer is a line of over {LONGEST_LINE} bytes");
                    self.bad_line("a line that is too long");
                    self.fail(id, &why)
                }
            };
            if message.is_some() {
                return message;
            }
        }
        self.notifications
            .log()
            .push("it prints what is no message again and again");
        None
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.outgoing = None;
        Ok(())
    }
}

impl PendingRequests {
    /// Adds a sent request, and removes a cancelled one.
    fn track(&mut self, item: &TxJsonRpcMessage<RoleClient>) {
        match item {
            JsonRpcMessage::Request(request) => self.track_request(&request.request, &request.id),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.lenient.remove(id);
                    self.typed.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    fn track_request(&mut self, request: &ClientRequest, id: &RequestId) {
        match request {
            ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => {
                self.lenient.insert(id.clone());
            }
            ClientRequest::InitializeRequest(_) => {
                // A slow server may answer the earlier handshake now, which was given up; that
                // response must not be taken for one to `initialize`.
                self.typed.clear();
                self.typed.insert(id.clone());
            }
            _ => {
                self.typed.insert(id.clone());
            }
        }
    }
}

/// Decodes a result; member by member and item by item if that fails, so that one item that is nested too deep
/// does not lose the others.
fn read_leniently(result: &RawValue) -> Result<Value, serde_json::Error> {
    if let Ok(value) = serde_json::from_str(result.get()) {
        return Ok(value);
    }
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(result.get())?;
    let read = |(name, member): (String, &RawValue)| (name, read_items(member));
    Ok(members.into_iter().map(read).collect())
}

fn read_items(member: &RawValue) -> Value {
    let unread = || Value::from("(nested too deep to be read)");
    let read = |item: &RawValue| serde_json::from_str(item.get()).unwrap_or_else(|_| unread());
    match serde_json::from_str::<Vec<&RawValue>>(member.get()) {
        Ok(items) => items.into_iter().map(read).collect(),
        Err(_) => read(member),
    }
}

fn unreadable(request: RequestId, why: &str) -> ServerJsonRpcMessage {
    let error = ErrorData::internal_error(why.to_owned(), None);
    JsonRpcMessage::error(error, Some(request))
}

/// Decodes an error, with defaults for missing members.
fn error_of(error: &RawValue) -> ErrorData {
    let error: Value = serde_json::from_str(error.get()).unwrap_or(Value::Null);
    let code = error.get("code").and_then(Value::as_i64);
    let code = code
        .and_then(|code| i32::try_from(code).ok())
        .map(ErrorCode);
    let message = error.get("message").and_then(Value::as_str);
    let message = message.map_or_else(|| error.to_string(), str::to_owned);
    ErrorData::new(
        code.unwrap_or(ErrorCode::INTERNAL_ERROR),
        message,
        error.get("data").cloned(),
    )
}

/// Writes queued lines in batches, until the queue is closed or a write fails.
async fn write_all(
    mut writer: impl AsyncWrite + Send + Unpin + 'static,
    mut waiting: mpsc::Receiver<Vec<u8>>,
) {
    let mut lines = Vec::new();
    let mut batch = Vec::new();
    while waiting.recv_many(&mut lines, MOST_WAITING).await > 0 {
        batch.clear();
        for line in lines.drain(..) {
            batch.extend_from_slice(&line);
            batch.push(b'\n');
        }
        if writer.write_all(&batch).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}
