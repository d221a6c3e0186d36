//! A server's lines as messages: bounded, and with the answers to our own requests left as they came.
//! It corrects nothing a server says, and never ends a connection for one bad line.

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

use super::lines::{IdScan, LONGEST_LINE, Lines, Read};
use super::notifications::Notifications;

/// Messages that wait for a server which does not read.
const MOST_WAITING: usize = 64;
/// So many bad lines in a row, and it is no server.
const MOST_BAD_LINES: usize = 1_000;
/// How many of them are told.
const BAD_LINES_TOLD: usize = 20;

/// The wire to a server whose messages are lines.
pub(super) struct LineTransport<R> {
    lines: Lines<R>,
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
    waited_for: Arc<Mutex<WaitedFor>>,
    ears: Arc<Notifications>,
    bad_lines: usize,
}

/// Requests that are not answered yet.
#[derive(Default)]
struct WaitedFor {
    /// Those whose answers are read by us, item by item.
    ours: HashSet<RequestId>,
    others: HashSet<RequestId>,
}

/// Whose answer it is.
enum Whose {
    Ours(RequestId),
    Others,
    Nobodys,
}

/// As much of a message as tells where it belongs.
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
        ears: Arc<Notifications>,
    ) -> Self {
        let (outgoing, waiting) = mpsc::channel(MOST_WAITING);
        tokio::spawn(write_all(writer, waiting));
        Self {
            lines: Lines::new(reader, LONGEST_LINE),
            outgoing: Some(outgoing),
            waited_for: Arc::default(),
            ears,
            bad_lines: 0,
        }
    }

    /// What the line that was read last is to the client, if it is anything to it.
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
                let message = self.sort(text, &envelope);
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

    fn sort(&self, text: &str, envelope: &Envelope<'_>) -> Option<ServerJsonRpcMessage> {
        match (&envelope.method, &envelope.id) {
            (Some(method), None) => self.notification(method, text, envelope),
            (Some(_), Some(id)) => self.request(text, id),
            (None, Some(id)) => self.answer(text, id, envelope),
            (None, None) => None,
        }
    }

    /// What is heard here goes no further: the client makes a task of each.
    fn notification(
        &self,
        method: &str,
        text: &str,
        envelope: &Envelope<'_>,
    ) -> Option<ServerJsonRpcMessage> {
        let params = envelope
            .params
            .and_then(|params| serde_json::from_str(params.get()).ok());
        self.ears.hear(method, &params.unwrap_or(Value::Null));
        match method {
            "notifications/progress" | "notifications/message" => None,
            _ => serde_json::from_str(text).ok(),
        }
    }

    /// A server that waits for an answer gets one.
    fn request(&self, text: &str, id: &Value) -> Option<ServerJsonRpcMessage> {
        let message = serde_json::from_str(text).ok();
        if message.is_none() {
            let refusal = serde_json::json!({
                "jsonrpc": "2.0",
                "id": id,
                "error": {"code": -32602, "message": "the request cannot be read"},
            });
            // A server that does not read waits for its own answers.
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
        let request = match self.whose(id) {
            Whose::Ours(request) => request,
            Whose::Others => return serde_json::from_str(text).ok(),
            Whose::Nobodys => return None,
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

    /// Who waits for the answer with this id. Some servers give a number back as a text.
    fn whose(&self, id: &Value) -> Whose {
        let id = match id {
            Value::Number(number) => number.as_i64().map(NumberOrString::Number),
            Value::String(text) => Some(match text.parse() {
                Ok(number) => NumberOrString::Number(number),
                Err(_) => NumberOrString::String(text.as_str().into()),
            }),
            // An error without an id is about whatever was asked last.
            Value::Null => return Whose::Others,
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let mut waited_for = self.waited_for.lock();
        match id {
            Some(id) if waited_for.ours.remove(&id) => Whose::Ours(id),
            Some(id) if waited_for.others.remove(&id) => Whose::Others,
            Some(_) | None => Whose::Nobodys,
        }
    }

    /// Whoever waits for an answer that cannot be used need not wait any longer.
    fn fail(&self, id: Option<Value>, why: &str) -> Option<ServerJsonRpcMessage> {
        match self.whose(&id?) {
            Whose::Ours(request) => Some(unreadable(request, why)),
            Whose::Others | Whose::Nobodys => None,
        }
    }

    fn bad_line(&mut self, what: &str) {
        self.bad_lines += 1;
        if self.bad_lines <= BAD_LINES_TOLD {
            self.ears.log().push(what);
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.waited_for.lock().note(&item);
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
                Read::End => return None,
                Read::Line => self.message(),
                Read::TooLong(id) => {
                    let why = format!("its answer is a line of over {LONGEST_LINE} bytes");
                    self.bad_line("a line that is too long");
                    self.fail(id, &why)
                }
            };
            if message.is_some() {
                return message;
            }
        }
        self.ears
            .log()
            .push("it prints what is no message again and again");
        None
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.outgoing = None;
        Ok(())
    }
}

impl WaitedFor {
    /// Remembers who waits for an answer, and forgets what nobody waits for any more.
    fn note(&mut self, item: &TxJsonRpcMessage<RoleClient>) {
        match item {
            JsonRpcMessage::Request(request) => self.note_request(&request.request, &request.id),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.ours.remove(id);
                    self.others.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    fn note_request(&mut self, request: &ClientRequest, id: &RequestId) {
        match request {
            ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => {
                self.ours.insert(id.clone());
            }
            ClientRequest::InitializeRequest(_) => {
                // A server that starts slowly may answer the newer greeting now, which was given
                // up; that answer would be taken for one to this.
                self.others.clear();
                self.others.insert(id.clone());
            }
            _ => {
                self.others.insert(id.clone());
            }
        }
    }
}

/// A result, member by member and item by item if it cannot be read as a whole: what is nested too
/// deep costs only itself.
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

/// An error of a server, whatever it left out.
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

/// Writes whatever waits in one go, until nobody sends any more or nobody reads.
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
