//! A collector for tests: it takes OTLP over plain HTTP, keeps what it got and answers as it is told.
//! It asserts nothing itself.

use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use toolcall_telemetry::Settings;

/// How a request is answered.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// It was taken.
    Taken,
    /// It was taken but for some spans.
    Partly { rejected: i64, why: &'static str },
    /// With this status and this further header line.
    Status(u16, &'static str),
    /// Never.
    Silence,
}

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// The collector.
pub(crate) struct Receiver {
    address: std::net::SocketAddr,
    state: Arc<State>,
}

struct State {
    replies: Mutex<Vec<Reply>>,
    received: Mutex<Vec<Received>>,
    connections: watch::Sender<usize>,
    requests: watch::Sender<usize>,
}

impl Receiver {
    /// Answers with these in turn, and with the last of them from then on.
    pub(crate) async fn answering(replies: impl Into<Vec<Reply>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut replies = replies.into();
        replies.reverse();
        let state = Arc::new(State {
            replies: Mutex::new(replies),
            received: Mutex::default(),
            connections: watch::Sender::new(0),
            requests: watch::Sender::new(0),
        });
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.send_modify(|count| *count += 1);
                tokio::spawn(serve(stream, shared.clone()));
            }
        });
        Self { address, state }
    }

    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::new(&format!("http://{}/v1/traces", self.address)).unwrap();
        // Spans go when they are asked to, or when there are many.
        settings.delay = std::time::Duration::from_secs(3600);
        settings
    }

    pub(crate) fn connections(&self) -> usize {
        *self.state.connections.borrow()
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.received.lock().unwrap().clone()
    }

    /// Waits until so many requests came.
    pub(crate) async fn asked_times(&self, times: usize) {
        let mut requests = self.state.requests.subscribe();
        requests.wait_for(|count| *count >= times).await.unwrap();
    }

    /// Every span that it was sent.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.received().iter().flat_map(Received::spans).collect()
    }
}

impl Received {
    pub(crate) fn request(&self) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest::decode(&*self.body).unwrap()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let resources = self.request().resource_spans.into_iter();
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

async fn serve(mut stream: TcpStream, state: Arc<State>) {
    while let Some(received) = read(&mut stream).await {
        let reply = state.next_reply();
        state.received.lock().unwrap().push(received);
        state.requests.send_modify(|count| *count += 1);
        let Some(answer) = answer(&reply) else {
            return std::future::pending().await;
        };
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

impl State {
    fn next_reply(&self) -> Reply {
        let mut replies = self.replies.lock().unwrap();
        match replies.len() {
            1 => replies[0].clone(),
            _ => replies.pop().unwrap(),
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let (_, length) = head.split_once("content-length: ")?;
    let length = length.lines().next()?.parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Received { head, body })
}

fn answer(reply: &Reply) -> Option<Vec<u8>> {
    let (status, header, body) = match reply {
        Reply::Taken => (200, "", Vec::new()),
        Reply::Partly { rejected, why } => (200, "", partly(*rejected, why)),
        Reply::Status(status, header) => (*status, *header, Vec::new()),
        Reply::Silence => return None,
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status} x\r\n{header}content-length: {length}\r\n\r\n");
    Some([head.into_bytes(), body].concat())
}

fn partly(rejected: i64, why: &str) -> Vec<u8> {
    let partial = ExportTracePartialSuccess {
        rejected_spans: rejected,
        error_message: why.to_owned(),
    };
    let answer = ExportTraceServiceResponse {
        partial_success: Some(partial),
    };
    answer.encode_to_vec()
}
