//! The tool that searches the web with the service that the settings name.
//! It reaches that service only, and shows its key to nobody.

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
    Extent, Finding, Lookup, PrivateHosts, Provider, SearchSettings, SystemLookup, Target, Watch,
    Web, WebError, read, readable,
};

const MOST: usize = 10;
const LARGEST_ANSWER: usize = 4 * 1024 * 1024;
const TIME: Duration = Duration::from_secs(30);
const LONGEST_QUERY: usize = 1000;
const LONGEST_TITLE: usize = 200;
const LONGEST_SNIPPET: usize = 500;

/// Searches the web. It cannot be made, and so not be registered, without a service.
pub struct WebSearch {
    provider: Provider,
    web: Web,
}

/// What [`WebSearch`] takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// What to search for, as one would type it.
    pub query: String,
    /// How many results at most: 1 to 10, 10 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    pub count: Option<usize>,
}

impl WebSearch {
    /// With this service. It fails where its address or its key cannot be right.
    pub fn new(settings: &SearchSettings) -> Result<Self, WebError> {
        Self::finding_hosts_by(settings, SystemLookup)
    }

    /// With another way of finding the addresses of a host.
    pub fn finding_hosts_by(
        settings: &SearchSettings,
        lookup: impl Lookup,
    ) -> Result<Self, WebError> {
        let provider = Provider::new(settings)?;
        let web = Web {
            lookup: Arc::new(lookup),
            // Whoever set it up chose it; nothing else is reached.
            private: PrivateHosts::new(&[provider.endpoint.reaches().to_string()]),
            silence: TIME,
        };
        Ok(Self { provider, web })
    }

    async fn ask(&self, query: &str, count: usize) -> Result<Vec<Finding>, ToolError> {
        let host = self.provider.endpoint.reaches();
        let (target, message) = self.provider.request(query, count);
        let deadline = Instant::now() + TIME;
        let slow = WebError::Slow {
            host: host.to_string(),
            after: TIME,
        };
        // A redirect is not followed: the key is for this address.
        let sending = self.web.send(&target, &message);
        let response = timeout_at(deadline, sending).await.map_err(|_| slow)??;
        let status = response.status();
        if !status.is_success() {
            // What it says is not shown: it may repeat the key.
            return Err(ToolError::new(format!(
                "the search at `{host}` answered {status}; whoever runs this should check its address and key"
            )));
        }
        let body = read(response, LARGEST_ANSWER, deadline, Watch::nobody()).await;
        if let Extent::Broken(why) = &body.extent {
            return Err(ToolError::new(format!(
                "the answer of the search at `{host}` broke off: {why}"
            )));
        }
        let answer: Option<Value> = serde_json::from_slice(&body.bytes).ok();
        let findings = answer.and_then(|answer| self.provider.findings(&answer));
        findings.ok_or_else(|| {
            ToolError::new(format!(
                "the search at `{host}` gave no list of results in JSON; whoever runs this should check that it answers in JSON"
            ))
        })
    }
}

impl Tool for WebSearch {
    const NAME: &'static str = "web_search";
    const DESCRIPTION: &'static str = "Searches the web and lists titles, addresses and snippets. Read a page with \
                                       fetch.";
    const KIND: Option<Kind> = Some(Kind::Fetch);
    type Input = SearchInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &SearchInput,
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

    async fn run(&self, input: SearchInput, _scope: &RunContext) -> Result<ToolResult, ToolError> {
        let query = query(&input)?;
        let count = input.count.unwrap_or(MOST).clamp(1, MOST);
        let mut findings = self.ask(query, count).await?;
        findings.truncate(count);
        let endpoint = self.provider.endpoint.clone();
        let shown = findings
            .into_iter()
            .map(|finding| cleaned(finding, &endpoint));
        Ok(listed(query, &shown.collect::<Vec<_>>()))
    }
}

fn query(input: &SearchInput) -> Result<&str, ToolError> {
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

/// Services mark what matched with tags, and titles come from anywhere.
fn cleaned(finding: Finding, endpoint: &Target) -> Finding {
    let line = |text: &str, most| clean_line(&readable(text, endpoint, 4 * most), most);
    Finding {
        title: line(&finding.title, LONGEST_TITLE),
        snippet: line(&finding.snippet, LONGEST_SNIPPET),
        url: finding.url,
    }
}

fn listed(query: &str, findings: &[Finding]) -> ToolResult {
    let mut text = match findings.len() {
        0 => "nothing was found; try other words".to_owned(),
        1 => "1 result".to_owned(),
        many => format!("{many} results"),
    };
    for (finding, number) in findings.iter().zip(1..) {
        let Finding {
            title,
            url,
            snippet,
        } = finding;
        // Writing to a string cannot fail.
        let _infallible = write!(text, "\n{number}. {title}\n   {url}\n   {snippet}");
    }
    let links = findings.iter().map(|finding| Content::Link(link(finding)));
    let mut result = ToolResult::from(text);
    result.content.extend(links);
    let rows = findings.iter().map(
        |Finding {
             title,
             url,
             snippet,
         }| { json!({"title": title, "url": url, "snippet": snippet}) },
    );
    let rows: Vec<Value> = rows.collect();
    result.structured(json!({"query": query, "count": rows.len(), "results": rows}))
}

fn link(finding: &Finding) -> Link {
    let title: Arc<str> = if finding.title.is_empty() {
        finding.url.as_str().into()
    } else {
        finding.title.as_str().into()
    };
    Link {
        uri: finding.url.as_str().into(),
        name: title.clone(),
        title: Some(title),
        description: (!finding.snippet.is_empty()).then(|| finding.snippet.as_str().into()),
        ..Link::default()
    }
}
