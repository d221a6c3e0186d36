//! The configuration of telemetry.
//! Values only: it reads no environment and connects to nothing; `Debug` never shows headers.

use std::fmt;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;
use url::Url;

use crate::content::ContentCapture;

/// The configuration of [`Telemetry`](crate::Telemetry): the collector, its headers, the limits.
///
/// ```
/// use toolcall_telemetry::Settings;
///
/// # fn main() -> Result<(), toolcall_telemetry::TelemetryConfigError> {
/// let settings = Settings::new("https://collector.example/v1/traces?key=secret")?.header("x-team", "a")?;
/// assert_eq!(settings.endpoint().to_string(), "https://collector.example/v1/traces");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) endpoint: Endpoint,
    /// Every value is marked as sensitive.
    pub(crate) headers: HeaderMap,
    /// The name of the program: the resource attribute `service.name`.
    pub service: String,
    /// Further resource attributes.
    pub resource: Vec<(String, String)>,
    /// The timeout of one request.
    pub timeout: Duration,
    /// How long a span waits for others to share its batch.
    pub delay: Duration,
    /// How many spans may be queued. Further ones are dropped.
    pub queue_capacity: usize,
    /// Whether inputs and outputs are sent.
    pub content: ContentCapture,
}

/// The URL that spans are posted to. `Display` and `Debug` omit its query, which may hold a key.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Why a setting is invalid. The message names the setting but never its value, which may be secret.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TelemetryConfigError {
    /// The endpoint is not an HTTP URL.
    #[error("`{0}` is not a URL; write one like `http://localhost:4318`")]
    Address(&'static str),
    /// The endpoint contains a user name or a password.
    #[error("`{0}` holds a user or a password; put them into `OTEL_EXPORTER_OTLP_HEADERS`")]
    Credentials(&'static str),
    /// The value is not a list of pairs.
    #[error("`{0}` is not a list like `key=value,other=value`")]
    Pairs(&'static str),
    /// A header name or value is invalid.
    #[error("`{0}` has an invalid header name or value")]
    Header(&'static str),
    /// The value is not a whole number above zero.
    #[error("`{0}` is not a whole number above zero")]
    Number(&'static str),
    /// The protocol is not supported.
    #[error("`{0}` names a protocol that is not supported; write `http/protobuf`")]
    Protocol(&'static str),
}

impl Settings {
    /// Creates settings that post spans to a URL, such as `http://localhost:4318/v1/traces`.
    pub fn new(endpoint: &str) -> Result<Self, TelemetryConfigError> {
        Ok(Self::to(Endpoint::parse("endpoint", endpoint)?))
    }

    pub(crate) fn to(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            headers: HeaderMap::new(),
            service: "toolcall".to_owned(),
            resource: Vec::new(),
            timeout: Duration::from_secs(10),
            delay: Duration::from_secs(5),
            queue_capacity: 2048,
            content: ContentCapture::Off,
        }
    }

    /// Adds a header to every request, such as an API key of the collector.
    pub fn header(self, name: &str, value: &str) -> Result<Self, TelemetryConfigError> {
        self.header_of("header", name, value)
    }

    pub(crate) fn header_of(
        mut self,
        from: &'static str,
        name: &str,
        value: &str,
    ) -> Result<Self, TelemetryConfigError> {
        let unfit = TelemetryConfigError::Header(from);
        let name = HeaderName::try_from(name).map_err(|_| unfit.clone())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| unfit)?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Returns the URL that spans are posted to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Endpoint {
    /// Parses a URL; `from` names the setting in the error.
    pub(crate) fn parse(from: &'static str, text: &str) -> Result<Self, TelemetryConfigError> {
        let url = Url::parse(text.trim()).map_err(|_| TelemetryConfigError::Address(from))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(TelemetryConfigError::Address(from));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TelemetryConfigError::Credentials(from));
        }
        Ok(Self(url))
    }

    /// Appends the path of traces, `/v1/traces`, to the URL of a collector.
    pub(crate) fn of_traces(mut self) -> Self {
        let base = self.0.path().trim_end_matches('/');
        let path = format!("{base}/v1/traces");
        self.0.set_path(&path);
        self
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }
}

/// Omits the query and the fragment.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        f.write_str(shown.as_str())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}
