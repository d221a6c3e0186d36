//! Search services: builds their requests and decodes their results.
//! A key is sent to its service only and never shown.

use std::fmt;

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::client::WebRequest;
use super::error::WebError;
use super::target::WebTarget;

const BRAVE: &str = "https://api.search.brave.com/res/v1/web/search";
const TAVILY: &str = "https://api.tavily.com/search";

/// The search service to use. An endpoint may have a private address, for self-hosted services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchSettings {
    /// A SearXNG instance that answers in JSON.
    SearXng {
        /// The URL of its search, such as `http://localhost:8888/search`.
        endpoint: String,
    },
    /// Brave Search.
    Brave {
        /// The subscription token.
        key: Secret,
        /// A URL to use instead of the service's own.
        endpoint: Option<String>,
    },
    /// Tavily.
    Tavily {
        /// The API key.
        key: Secret,
        /// A URL to use instead of the service's own.
        endpoint: Option<String>,
    },
}

/// A key or another secret value, which `Debug` does not show.
///
/// ```
/// use toolcall_tools::web::Secret;
///
/// assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(…)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// Returns the secret, to send it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A configured search service.
pub(crate) struct SearchService {
    pub(crate) endpoint: WebTarget,
    kind: ServiceKind,
}

enum ServiceKind {
    SearXng,
    Brave(HeaderValue),
    Tavily(HeaderValue),
}

/// One search result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchHit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

impl SearchService {
    pub(crate) fn new(settings: &SearchSettings) -> Result<Self, WebError> {
        let (endpoint, kind) = match settings {
            SearchSettings::SearXng { endpoint } => (&**endpoint, ServiceKind::SearXng),
            SearchSettings::Brave { key, endpoint } => (
                endpoint.as_deref().unwrap_or(BRAVE),
                ServiceKind::Brave(hidden(key.reveal())?),
            ),
            SearchSettings::Tavily { key, endpoint } => (
                endpoint.as_deref().unwrap_or(TAVILY),
                ServiceKind::Tavily(hidden(&format!("Bearer {}", key.reveal()))?),
            ),
        };
        Ok(Self {
            endpoint: WebTarget::parse(endpoint)?,
            kind,
        })
    }

    /// Returns the request for a search, and its address.
    pub(crate) fn request(&self, query: &str, count: usize) -> (WebTarget, WebRequest) {
        let mut headers = HeaderMap::new();
        let mut body = None;
        let count_text = count.to_string();
        let target = match &self.kind {
            ServiceKind::SearXng => self
                .endpoint
                .with_query(&[("q", query), ("format", "json")]),
            ServiceKind::Brave(key) => {
                headers.insert("x-subscription-token", key.clone());
                self.endpoint
                    .with_query(&[("q", query), ("count", &count_text)])
            }
            ServiceKind::Tavily(key) => {
                headers.insert(AUTHORIZATION, key.clone());
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                body = Some(json!({"query": query, "max_results": count}).to_string());
                self.endpoint.clone()
            }
        };
        let method = match body {
            Some(_) => Method::POST,
            None => Method::GET,
        };
        (
            target,
            WebRequest {
                method,
                headers,
                body,
            },
        )
    }

    /// Decodes the results of a response; `None` if it has no list of results.
    pub(crate) fn hits(&self, answer: &Value) -> Option<Vec<SearchHit>> {
        let (list, snippet) = match self.kind {
            ServiceKind::SearXng | ServiceKind::Tavily(_) => (answer.get("results"), "content"),
            // Without results, the service omits the list.
            ServiceKind::Brave(_)
                if answer.get("web").is_none() && answer.get("query").is_some() =>
            {
                return Some(Vec::new());
            }
            ServiceKind::Brave(_) => (answer.pointer("/web/results"), "description"),
        };
        let found = list?
            .as_array()?
            .iter()
            .filter_map(|item| hit(item, snippet));
        Some(found.collect())
    }
}

/// Returns a header value that debug output does not show.
fn hidden(text: &str) -> Result<HeaderValue, WebError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| WebError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Decodes one result; `None` if it has no web address.
fn hit(item: &Value, snippet: &str) -> Option<SearchHit> {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let url = WebTarget::parse(text("url")).ok()?;
    Some(SearchHit {
        title: text("title").to_owned(),
        url: url.to_string(),
        snippet: text(snippet).to_owned(),
    })
}
