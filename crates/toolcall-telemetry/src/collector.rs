//! The collector at the other end: one batch, one request, one answer.
//! It follows no redirect, uses no proxy, and shows neither headers nor the address's query.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message as _;
use prost::bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use thiserror::Error;
use toolcall::text::clean_line;

use crate::settings::{Endpoint, Settings};
use crate::span::text;
use crate::telemetry::StartError;

/// The longest answer that is read.
const LONGEST_ANSWER: usize = 64 * 1024;

/// The longest word of the collector's that is repeated.
const LONGEST_WORD: usize = 200;

/// Why spans were not delivered.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeliveryError {
    /// The queue was full.
    #[error("spans came faster than the collector took them")]
    Behind,
    /// Time was up.
    #[error("there was no time left to send them")]
    Closed,
    /// Nobody is there.
    #[error("the collector cannot be reached: {0}")]
    Unreachable(String),
    /// No answer came in time.
    #[error("the collector did not answer within {0:?}")]
    Slow(Duration),
    /// It answered with an error.
    #[error("the collector answered with status {0}")]
    Refused(u16),
    /// It took the batch and not all of its spans.
    #[error("the collector rejected spans: {0}")]
    Rejected(String),
}

/// What a collector did not take of a batch that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) spans: u64,
    pub(crate) why: String,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) error: DeliveryError,
    /// When to try again; never, if trying again cannot help.
    pub(crate) again: Again,
}

/// Whether it makes sense to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    Never,
    Sometime,
    /// The collector said when.
    After(Duration),
}

/// A collector.
pub(crate) struct Collector {
    client: Client,
    endpoint: Endpoint,
    headers: HeaderMap,
    resource: Resource,
    timeout: Duration,
}

impl Collector {
    /// As the settings say. Nothing is connected yet.
    pub(crate) fn new(settings: &Settings) -> Result<Self, StartError> {
        let built = Client::builder()
            .tls_backend_preconfigured(tls(&settings.endpoint)?)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(1)
            .timeout(settings.timeout)
            .user_agent(concat!("toolcall/", env!("CARGO_PKG_VERSION")))
            .build();
        let mut headers = settings.headers.clone();
        let protobuf = HeaderValue::from_static("application/x-protobuf");
        headers.insert(CONTENT_TYPE, protobuf);
        Ok(Self {
            client: built.map_err(|error| StartError::Client(causes(error)))?,
            endpoint: settings.endpoint.clone(),
            headers,
            resource: resource(settings),
            timeout: settings.timeout,
        })
    }

    /// Where it is.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The bytes of one request.
    pub(crate) fn encode(&self, spans: Vec<Span>) -> Bytes {
        let scope = InstrumentationScope {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let scoped = ScopeSpans {
            scope: Some(scope),
            spans,
            ..ScopeSpans::default()
        };
        let of_resource = ResourceSpans {
            resource: Some(self.resource.clone()),
            scope_spans: vec![scoped],
            ..ResourceSpans::default()
        };
        let request = ExportTraceServiceRequest {
            resource_spans: vec![of_resource],
        };
        request.encode_to_vec().into()
    }

    /// Sends one request and reads the answer.
    pub(crate) async fn post(&self, body: Bytes) -> Result<Rejection, Failure> {
        let request = self.client.post(self.endpoint.url().clone());
        let request = request.headers(self.headers.clone()).body(body);
        let mut response = request.send().await.map_err(|error| self.broken(error))?;
        if !response.status().is_success() {
            return Err(refused(&response));
        }
        let answer = self.read(&mut response).await?;
        Ok(rejection(&answer))
    }

    async fn read(&self, response: &mut Response) -> Result<Vec<u8>, Failure> {
        let mut answer = Vec::new();
        while answer.len() < LONGEST_ANSWER {
            match response.chunk().await.map_err(|error| self.broken(error))? {
                Some(chunk) => answer.extend_from_slice(&chunk),
                None => break,
            }
        }
        Ok(answer)
    }

    fn broken(&self, error: reqwest::Error) -> Failure {
        let error = if error.is_timeout() {
            DeliveryError::Slow(self.timeout)
        } else {
            DeliveryError::Unreachable(causes(error))
        };
        let again = Again::Sometime;
        Failure { error, again }
    }
}

/// Only these are worth another try, says the protocol.
fn refused(response: &Response) -> Failure {
    let status = response.status().as_u16();
    let wished = response.headers().get(RETRY_AFTER);
    let seconds = wished.and_then(|wished| wished.to_str().ok()?.trim().parse().ok());
    let again = match (status, seconds) {
        (429 | 502 | 503 | 504, Some(seconds)) => Again::After(Duration::from_secs(seconds)),
        (429 | 502 | 503 | 504, None) => Again::Sometime,
        _final => Again::Never,
    };
    Failure {
        error: DeliveryError::Refused(status),
        again,
    }
}

/// An answer that cannot be read says nothing against the batch: the status was good.
fn rejection(answer: &[u8]) -> Rejection {
    let answer = ExportTraceServiceResponse::decode(answer).unwrap_or_default();
    let partial = answer.partial_success.unwrap_or_default();
    Rejection {
        spans: u64::try_from(partial.rejected_spans).unwrap_or_default(),
        why: clean_line(&partial.error_message, LONGEST_WORD),
    }
}

fn resource(settings: &Settings) -> Resource {
    let own = [
        ("service.name", &*settings.service),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.name", env!("CARGO_PKG_NAME")),
        ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
    ];
    let further = settings
        .resource
        .iter()
        .map(|(key, value)| (&**key, &**value));
    let attributes = own.into_iter().chain(further);
    Resource {
        attributes: attributes.map(|(key, value)| text(key, value)).collect(),
        ..Resource::default()
    }
}

/// The crypto provider is named here, because a library cannot know whether its process set one.
/// Certificates are the system's, so that those of a company work; plain http trusts none.
fn tls(endpoint: &Endpoint) -> Result<ClientConfig, StartError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let no_certificates = |error: rustls::Error| StartError::Certificates(error.to_string());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(no_certificates)?;
    if endpoint.url().scheme() != "https" {
        let none = RootCertStore::empty();
        return Ok(builder.with_root_certificates(none).with_no_client_auth());
    }
    let verified = builder.with_platform_verifier().map_err(no_certificates)?;
    Ok(verified.with_no_client_auth())
}

/// The innermost cause says most; the address is told by whoever shows this.
fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    clean_line(&innermost.to_string(), LONGEST_WORD)
}
