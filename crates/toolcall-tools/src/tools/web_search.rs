//! `web_search`: searches the web with the configured service.
//! It connects to that service only, and never shows its key.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use toolcall::text::{clean_block, clean_line};
use toolcall::{
    Content, Intent, Kind, Link, PrepareContext, RunContext, Tool, ToolError, ToolResult, Touch,
};

use crate::web::{
    BodyExtent, DownloadProgress, Lookup, PrivateHosts, SearchHit, SearchService, SearchSettings,
    SystemLookup, WebClient, WebError, WebTarget, read, readable,
};

const MOST: usize = 10;
const LARGEST_ANSWER: usize = 4 * 1024 * 1024;
const TIME: Duration = Duration::from_secs(30);
const LONGEST_QUERY: usize = 1000;
const LONGEST_TITLE: usize = 200;
const LONGEST_SNIPPET: usize = 500;

/// Searches the web. Creating it needs a search service, so without one it is not registered.
pub struct WebSearch {
    provider: SearchService,
    web: WebClient,
}

/// What [`WebSearch`] takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearchInput {
    /// What to search for, as one would type it.
    pub query: String,
    /// How many results at most: 1 to 10, 10 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    pub count: Option<usize>,
}

impl WebSearch {
    /// Creates the tool for this service. Fails if its address or key is invalid.
    pub fn new(settings: &SearchSettings) -> Result<Self, WebError> {
        Self::with_lookup(settings, SystemLookup)
    }

    /// Creates the tool with another DNS lookup.
    pub fn with_lookup(settings: &SearchSettings, lookup: impl Lookup) -> Result<Self, WebError> {
        let provider = SearchService::new(settings)?;
        let web = WebClient {
            lookup: Arc::new(lookup),
            // The user configured this host, so it may be private; no other host is connected to.
            private: PrivateHosts::new(&[provider.endpoint.reaches().to_string()]),
            silence: TIME,
        };
        Ok(Self { provider, web })
    }

    async fn ask(&self, query: &str, count: usize) -> Result<Vec<SearchHit>, ToolError> {
        let host = self.provider.endpoint.reaches();
        let (target, message) = self.provider.request(query, count);
        let deadline = Instant::now() + TIME;
        let slow = WebError::Slow {
            host: host.to_string(),
            after: TIME,
        };
        // Redirects are not followed, because the key is for this address only.
        let sending = self.web.send(&target, &message);
        let response = timeout_at(deadline, sending).await.map_err(|_| slow)??;
        let status = response.status();
        if !status.is_success() {
            // The body is not shown, because it may repeat the key.
            return Err(ToolError::new(format!(
                "the search at `{host}` answered {status}; the user should check its address and key"
            )));
        }
        let body = read(
            response,
            LARGEST_ANSWER,
            deadline,
            DownloadProgress::silent(),
        )
        .await;
        if let BodyExtent::Broken(why) = &body.extent {
            return Err(ToolError::new(format!(
                "the answer of the search at `{host}` broke off: {why}"
            )));
        }
        let answer: Option<Value> = serde_json::from_slice(&body.bytes).ok();
        let hits = answer.and_then(|answer| self.provider.hits(&answer));
        hits.ok_or_else(|| {
            ToolError::new(format!(
                "the search at `{host}` gave no list of results in JSON; the user should check that it answers in JSON"
            ))
        })
    }
}

impl Tool for WebSearch {
    const NAME: &'static str = "web_search";
    const DESCRIPTION: &'static str = "Searches the web and lists titles, addresses and snippets. Read a page with \
                                       fetch.";
    const KIND: Option<Kind> = Some(Kind::Fetch);
    type Input = WebSearchInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &WebSearchInput,
        _look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let query = query(input)?;
        let title = format!("Search the web for \"{query}\"");
        let reaches = self.provider.endpoint.reaches();
        let intent = Intent::new(Kind::Fetch, title).touching(Touch::Reaches(reaches));
        Ok(if query.len() > LONGEST_TITLE {
            intent.showing(clean_block(query))
        } else {
            intent
        })
    }

    async fn run(
        &self,
        input: WebSearchInput,
        _scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let query = query(&input)?;
        let count = input.count.unwrap_or(MOST).clamp(1, MOST);
        let mut hits = self.ask(query, count).await?;
        hits.truncate(count);
        let endpoint = self.provider.endpoint.clone();
        let shown = hits.into_iter().map(|hit| cleaned(hit, &endpoint));
        Ok(listed(query, &shown.collect::<Vec<_>>()))
    }
}

fn query(input: &WebSearchInput) -> Result<&str, ToolError> {
    let query = input.query.trim();
    if query.is_empty() {
        return Err(ToolError::new("`query` is empty; say what to search for"));
    }
    if query.len() > LONGEST_QUERY {
        Err(ToolError::new(format!(
            "`query` is over {LONGEST_QUERY} bytes; use fewer words"
        )))
    } else {
        Ok(query)
    }
}

/// Removes markup and hidden characters from the title and the snippet.
fn cleaned(hit: SearchHit, endpoint: &WebTarget) -> SearchHit {
    let line = |text: &str, most| clean_line(&readable(text, endpoint, 4 * most), most);
    SearchHit {
        title: line(&hit.title, LONGEST_TITLE),
        snippet: line(&hit.snippet, LONGEST_SNIPPET),
        url: hit.url,
    }
}

fn listed(query: &str, hits: &[SearchHit]) -> ToolResult {
    let mut text = match hits.len() {
        0 => "nothing was found; try other words".to_owned(),
        1 => "1 result".to_owned(),
        many => format!("{many} results"),
    };
    for (hit, number) in hits.iter().zip(1..) {
        let SearchHit {
            title,
            url,
            snippet,
        } = hit;
        // Writing to a string cannot fail.
        let _infallible = write!(text, "\n{number}. {title}\n   {url}\n   {snippet}");
    }
    let links = hits.iter().map(|hit| Content::Link(link(hit)));
    let mut result = ToolResult::from(text);
    result.content.extend(links);
    let rows = hits.iter().map(
        |SearchHit {
             title,
             url,
             snippet,
         }| { json!({"title": title, "url": url, "snippet": snippet}) },
    );
    let rows: Vec<Value> = rows.collect();
    result.structured(json!({"query": query, "count": rows.len(), "results": rows}))
}

fn link(hit: &SearchHit) -> Link {
    let title: Arc<str> = if hit.title.is_empty() {
        hit.url.as_str().into()
    } else {
        hit.title.as_str().into()
    };
    Link {
        uri: hit.url.as_str().into(),
        name: title.clone(),
        title: Some(title),
        description: (!hit.snippet.is_empty()).then(|| hit.snippet.as_str().into()),
        ..Link::default()
    }
}
