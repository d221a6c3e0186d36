//! The HTTP client of the collector: one request per batch.
//! It follows no redirects, uses no proxy, and never shows headers or the query of the URL.

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

/// The largest response that is read, in bytes.
const MAX_RESPONSE: usize = 64 * 1024;

/// The longest message of the collector that is shown.
const MAX_MESSAGE: usize = 200;

/// Why spans were dropped.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeliveryError {
    /// The queue was full.
    #[error("spans were made faster than the collector accepted them")]
    Behind,
    /// Telemetry was closed before they were sent.
    #[error("telemetry was closed before they were sent")]
    Closed,
    /// The connection failed.
    #[error("the collector cannot be reached: {0}")]
    Unreachable(String),
    /// The request timed out.
    #[error("the collector did not answer within {0:?}")]
    Slow(Duration),
    /// The collector answered with an error status.
    #[error("the collector answered with status {0}")]
    Refused(u16),
    /// The collector accepted the request but rejected some of its spans.
    #[error("the collector rejected spans: {0}")]
    Rejected(String),
}

/// The spans that a collector rejected of an accepted request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) spans: u64,
    pub(crate) why: String,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PostError {
    pub(crate) error: DeliveryError,
    /// Whether and when to retry.
    pub(crate) retry: Retry,
}

/// Whether and when to retry a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    Never,
    Later,
    /// After the time that the collector requested.
    After(Duration),
}

/// The client of a collector.
pub(crate) struct Collector {
    client: Client,
    endpoint: Endpoint,
    headers: HeaderMap,
    resource: Resource,
    timeout: Duration,
}

impl Collector {
    /// Builds the client. Nothing is connected yet.
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
            client: built.map_err(|error| StartError::Client(root_cause(error)))?,
            endpoint: settings.endpoint.clone(),
            headers,
            resource: resource(settings),
            timeout: settings.timeout,
        })
    }

    /// Returns the URL of the collector.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Encodes the body of one request.
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

    /// Sends one request and reads the response.
    pub(crate) async fn post(&self, body: Bytes) -> Result<Rejection, PostError> {
        let request = self.client.post(self.endpoint.url().clone());
        let request = request.headers(self.headers.clone()).body(body);
        let mut response = request
            .send()
            .await
            .map_err(|error| self.transport_error(error))?;
        if !response.status().is_success() {
            return Err(status_error(&response));
        }
        let response_body = self.read(&mut response).await?;
        Ok(parse_rejection(&response_body))
    }

    async fn read(&self, response: &mut Response) -> Result<Vec<u8>, PostError> {
        let mut response_body = Vec::new();
        while response_body.len() < MAX_RESPONSE {
            match response
                .chunk()
                .await
                .map_err(|error| self.transport_error(error))?
            {
                Some(chunk) => response_body.extend_from_slice(&chunk),
                None => break,
            }
        }
        Ok(response_body)
    }

    fn transport_error(&self, error: reqwest::Error) -> PostError {
        let error = if error.is_timeout() {
            DeliveryError::Slow(self.timeout)
        } else {
            DeliveryError::Unreachable(root_cause(error))
        };
        let retry = Retry::Later;
        PostError { error, retry }
    }
}

/// Returns the error of a status. OTLP allows retries only for 429, 502, 503 and 504.
fn status_error(response: &Response) -> PostError {
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER);
    let seconds =
        retry_after.and_then(|retry_after| retry_after.to_str().ok()?.trim().parse().ok());
    let retry = match (status, seconds) {
        (429 | 502 | 503 | 504, Some(seconds)) => Retry::After(Duration::from_secs(seconds)),
        (429 | 502 | 503 | 504, None) => Retry::Later,
        _final => Retry::Never,
    };
    PostError {
        error: DeliveryError::Refused(status),
        retry,
    }
}

/// Reads the rejected spans from a response. An unreadable body rejects none, because the status was a success.
fn parse_rejection(response_body: &[u8]) -> Rejection {
    let response_body = ExportTraceServiceResponse::decode(response_body).unwrap_or_default();
    let partial = response_body.partial_success.unwrap_or_default();
    Rejection {
        spans: u64::try_from(partial.rejected_spans).unwrap_or_default(),
        why: clean_line(&partial.error_message, MAX_MESSAGE),
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

/// Builds the TLS configuration. It names the crypto provider, because a library cannot rely on the process to
/// install one. It uses the system's certificates, so that a company's own work; plain http trusts none.
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

/// Returns the innermost cause of an error, without the URL: the caller shows that.
fn root_cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    clean_line(&innermost.to_string(), MAX_MESSAGE)
}
