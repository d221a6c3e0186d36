//! A test collector: it receives OTLP over plain HTTP, stores the requests and answers as configured.
//! It asserts nothing itself.

use std::sync::Mutex;

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use toolcall_telemetry::Settings;
use toolcall_testkit::http::{self, Request, Server, response};

/// How a request is answered.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Accepted.
    Accepted,
    /// Accepted except for some spans.
    Partial { rejected: i64, why: &'static str },
    /// With this status and this further header line.
    Status(u16, &'static str),
    /// No answer.
    Silence,
}

/// The test collector.
pub(crate) struct Receiver(Server);

impl Receiver {
    /// Answers with these replies in turn, then always with the last one.
    pub(crate) async fn answering(replies: impl Into<Vec<Reply>>) -> Self {
        let mut replies = replies.into();
        replies.reverse();
        let replies = Mutex::new(replies);
        let next = move |_: &str| {
            let mut replies = replies.lock().unwrap();
            match replies.len() {
                1 => answer(&replies[0]),
                _ => answer(&replies.pop().unwrap()),
            }
        };
        Self(Server::start(next).await)
    }

    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::new(&format!("http://{}/v1/traces", self.0.address)).unwrap();
        // Spans are sent on close, or when a batch is full.
        settings.delay = std::time::Duration::from_secs(3600);
        settings
    }

    /// Returns every span that it received.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.received().iter().flat_map(spans).collect()
    }
}

impl std::ops::Deref for Receiver {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

pub(crate) fn decoded(request: &Request) -> ExportTraceServiceRequest {
    ExportTraceServiceRequest::decode(&*request.body).unwrap()
}

pub(crate) fn spans(request: &Request) -> Vec<Span> {
    let resources = decoded(request).resource_spans.into_iter();
    let scopes = resources.flat_map(|resource| resource.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

fn answer(reply: &Reply) -> http::Reply {
    let (status, header, body) = match reply {
        Reply::Accepted => (200, "", Vec::new()),
        Reply::Partial { rejected, why } => (200, "", partly(*rejected, why)),
        Reply::Status(status, header) => (*status, *header, Vec::new()),
        Reply::Silence => return http::Reply::Hang(Vec::new()),
    };
    http::Reply::Keep(response(&format!("{status} x"), header, body))
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
