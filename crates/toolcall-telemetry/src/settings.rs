//! Where spans go, and how.
//! Values only: nothing is read from the environment and nothing is connected; headers are never shown.

use std::fmt;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;
use url::Url;

use crate::content::Content;

/// Where spans go, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) endpoint: Endpoint,
    /// Every value is marked as sensitive.
    pub(crate) headers: HeaderMap,
    /// What the program is called among others.
    pub service: String,
    /// What else is said of the program.
    pub resource: Vec<(String, String)>,
    /// How long the collector has to take one batch.
    pub timeout: Duration,
    /// How long a span waits for others that go along with it.
    pub delay: Duration,
    /// How many spans may wait. Further ones are dropped.
    pub room: usize,
    /// Whether inputs and outputs are sent.
    pub content: Content,
}

/// The address that spans are posted to. Its query may hold a key, and is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Why settings cannot be used. No value is in the message: it may be secret.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingsError {
    /// The address is no address.
    #[error("`{0}` is no address; write one like `http://localhost:4318`")]
    Address(&'static str),
    /// The address holds a password.
    #[error("`{0}` holds a user or a password; put them into `OTEL_EXPORTER_OTLP_HEADERS`")]
    Credentials(&'static str),
    /// A list of pairs is none.
    #[error("`{0}` is no list like `key=value,other=value`")]
    Pairs(&'static str),
    /// A header cannot be sent.
    #[error("`{0}` has a name or a value that no header can have")]
    Header(&'static str),
    /// A number is none.
    #[error("`{0}` is no whole number above zero")]
    Number(&'static str),
    /// Another protocol is asked for.
    #[error("`{0}` asks for a protocol that is not spoken here; write `http/protobuf`")]
    Protocol(&'static str),
}

impl Settings {
    /// Spans are posted to this address, such as `http://localhost:4318/v1/traces`.
    pub fn new(endpoint: &str) -> Result<Self, SettingsError> {
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
            room: 2048,
            content: Content::LeftOut,
        }
    }

    /// Sends this header along, such as a key of the collector's.
    pub fn header(self, name: &str, value: &str) -> Result<Self, SettingsError> {
        self.header_of("header", name, value)
    }

    pub(crate) fn header_of(
        mut self,
        from: &'static str,
        name: &str,
        value: &str,
    ) -> Result<Self, SettingsError> {
        let unfit = SettingsError::Header(from);
        let name = HeaderName::try_from(name).map_err(|_| unfit.clone())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| unfit)?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Where spans go.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Endpoint {
    /// Reads an address; what it is called goes into the error.
    pub(crate) fn parse(from: &'static str, text: &str) -> Result<Self, SettingsError> {
        let url = Url::parse(text.trim()).map_err(|_| SettingsError::Address(from))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(SettingsError::Address(from));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(SettingsError::Credentials(from));
        }
        Ok(Self(url))
    }

    /// The address of traces below that of a collector.
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

/// Without its query.
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
