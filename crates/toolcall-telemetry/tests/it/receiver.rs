//! A collector for tests: it takes OTLP over plain HTTP, keeps what it got and answers as it is told.
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
    /// It was taken.
    Taken,
    /// It was taken but for some spans.
    Partly { rejected: i64, why: &'static str },
    /// With this status and this further header line.
    Status(u16, &'static str),
    /// Never.
    Silence,
}

/// The collector.
pub(crate) struct Receiver(Server);

impl Receiver {
    /// Answers with these in turn, and with the last of them from then on.
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
        // Spans go when they are asked to, or when there are many.
        settings.delay = std::time::Duration::from_secs(3600);
        settings
    }

    /// Every span that it was sent.
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
        Reply::Taken => (200, "", Vec::new()),
        Reply::Partly { rejected, why } => (200, "", partly(*rejected, why)),
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
