//! Search services: what is asked of each, and how its answer is read.
//! A key is sent to its service and shown to nobody.

use std::fmt;

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::failure::WebError;
use super::hop::Message;
use super::target::Target;

const BRAVE: &str = "https://api.search.brave.com/res/v1/web/search";
const TAVILY: &str = "https://api.tavily.com/search";

/// Which service searches the web. An endpoint may be on a private address: people run their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchSettings {
    /// A SearXNG instance that answers in JSON.
    SearXng {
        /// Its search address, such as `http://localhost:8888/search`.
        endpoint: String,
    },
    /// Brave Search.
    Brave {
        /// The subscription's token.
        key: Secret,
        /// Another address than the service's own.
        endpoint: Option<String>,
    },
    /// Tavily.
    Tavily {
        /// The key.
        key: Secret,
        /// Another address than the service's own.
        endpoint: Option<String>,
    },
}

/// A key, or another value that no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key, for the one who sends it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A service that is ready to be asked.
pub(crate) struct Provider {
    pub(crate) endpoint: Target,
    service: Service,
}

enum Service {
    SearXng,
    Brave(HeaderValue),
    Tavily(HeaderValue),
}

/// One thing that was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

impl Provider {
    pub(crate) fn new(settings: &SearchSettings) -> Result<Self, WebError> {
        let (endpoint, service) = match settings {
            SearchSettings::SearXng { endpoint } => (&**endpoint, Service::SearXng),
            SearchSettings::Brave { key, endpoint } => (
                endpoint.as_deref().unwrap_or(BRAVE),
                Service::Brave(hidden(key.reveal())?),
            ),
            SearchSettings::Tavily { key, endpoint } => (
                endpoint.as_deref().unwrap_or(TAVILY),
                Service::Tavily(hidden(&format!("Bearer {}", key.reveal()))?),
            ),
        };
        Ok(Self {
            endpoint: Target::parse(endpoint)?,
            service,
        })
    }

    /// What is sent, and where to.
    pub(crate) fn request(&self, query: &str, count: usize) -> (Target, Message) {
        let mut headers = HeaderMap::new();
        let mut body = None;
        let count_text = count.to_string();
        let target = match &self.service {
            Service::SearXng => self.endpoint.asking(&[("q", query), ("format", "json")]),
            Service::Brave(key) => {
                headers.insert("x-subscription-token", key.clone());
                self.endpoint
                    .asking(&[("q", query), ("count", &count_text)])
            }
            Service::Tavily(key) => {
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
            Message {
                method,
                headers,
                body,
            },
        )
    }

    /// What an answer lists; nothing where it is no list at all.
    pub(crate) fn findings(&self, answer: &Value) -> Option<Vec<Finding>> {
        let (list, snippet) = match self.service {
            Service::SearXng | Service::Tavily(_) => (answer.get("results"), "content"),
            // Without a single result, the service leaves the list out.
            Service::Brave(_) if answer.get("web").is_none() && answer.get("query").is_some() => {
                return Some(Vec::new());
            }
            Service::Brave(_) => (answer.pointer("/web/results"), "description"),
        };
        let found = list?
            .as_array()?
            .iter()
            .filter_map(|item| finding(item, snippet));
        Some(found.collect())
    }
}

/// A header value that is not shown in any debug output.
fn hidden(text: &str) -> Result<HeaderValue, WebError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| WebError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// One entry of a list; one without a web address is of no use.
fn finding(item: &Value, snippet: &str) -> Option<Finding> {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let url = Target::parse(text("url")).ok()?;
    Some(Finding {
        title: text("title").to_owned(),
        url: url.to_string(),
        snippet: text(snippet).to_owned(),
    })
}
