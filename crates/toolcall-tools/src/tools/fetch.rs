//! `fetch`: fetches a URL.
//! It connects only to the stated host, and to a private address only if the settings allow its host.

use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use toolcall::text::{clean_block, clean_line};
use toolcall::{
    Intent, Kind, PrepareContext, Progress, RunContext, Sketch, Tool, ToolError, ToolResult, Touch,
};

use crate::web::{
    DownloadProgress, FetchReport, FetchSettings, Lookup, PrivateHosts, SystemLookup, TextFormat,
    WebClient, WebError, WebRequest, WebTarget, follow, read,
};

const MOST_HEADERS: usize = 32;
const LONGEST_BODY: usize = 1024 * 1024;
/// A longer title is cut, so the whole request is shown below it.
const TITLE: usize = 200;

/// Fetches a URL: pages as readable text, images as images.
pub struct Fetch {
    settings: FetchSettings,
    web: WebClient,
}

/// What [`Fetch`] takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FetchInput {
    /// The whole address, http or https, without user name and password.
    pub url: String,
    /// GET if left out. HEAD shows only the headers of the answer.
    #[serde(default)]
    pub method: FetchMethod,
    /// Headers to send, by name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What to send with POST. Say what it is in the header `content-type`.
    #[serde(default)]
    pub body: Option<String>,
    /// `text` (as a person would read a page, with its links) or `raw` (the page as it is).
    #[serde(default)]
    pub format: FetchFormat,
    /// Show at most so many bytes of text. A page is cut behind them.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_bytes: Option<usize>,
}

// Variants have no doc comments: with them, the error for a wrong value would be poor.
/// The HTTP method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum FetchMethod {
    #[default]
    #[serde(rename = "GET")]
    Get,
    #[serde(rename = "HEAD")]
    Head,
    #[serde(rename = "POST")]
    Post,
}

/// How to show a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FetchFormat {
    #[default]
    Text,
    Raw,
}

impl Fetch {
    /// Creates the tool with these settings and the system's DNS lookup.
    pub fn new(settings: FetchSettings) -> Self {
        Self::with_lookup(settings, SystemLookup)
    }

    /// Creates the tool with another DNS lookup.
    pub fn with_lookup(settings: FetchSettings, lookup: impl Lookup) -> Self {
        let web = WebClient {
            lookup: Arc::new(lookup),
            private: PrivateHosts::new(&settings.private),
            silence: settings.silence,
        };
        Self { settings, web }
    }

    fn check(&self, input: &FetchInput) -> Result<(WebTarget, WebRequest), WebError> {
        let target = WebTarget::parse(&input.url)?;
        self.web.check_literal(&target)?;
        Ok((target, message(input)?))
    }
}

impl Tool for Fetch {
    const NAME: &'static str = "fetch";
    const DESCRIPTION: &'static str = "Fetches one web address. Pages come as readable text with their links, images as \
                                       images, anything else as text or with its type and size. A redirect to another \
                                       host is told and not followed: call again with that address. Private addresses \
                                       are refused.";
    const ALIASES: &'static [&'static str] = &["web_request"];
    const KIND: Option<Kind> = Some(Kind::Fetch);
    type Input = FetchInput;
    type Output = ToolResult;

    /// Shows only URLs that would be accepted, because others may contain a password.
    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let url = partial.get("url").and_then(Value::as_str);
        let target = url.and_then(|url| WebTarget::parse(url).ok());
        Some(Sketch {
            title: target.map_or("Fetch".to_owned(), |target| format!("Fetch {target}")),
            kind: Kind::Fetch,
            ..Sketch::default()
        })
    }

    async fn prepare(
        &self,
        input: &FetchInput,
        _look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let (target, message) = self.check(input)?;
        let title = match input.method {
            FetchMethod::Get => format!("Fetch {target}"),
            FetchMethod::Head | FetchMethod::Post => format!("Fetch ({}) {target}", message.method),
        };
        let is_plain = message == WebRequest::plain_get() && title.len() <= TITLE;
        let intent = Intent::new(Kind::Fetch, title).touching(Touch::Reaches(target.reaches()));
        Ok(if is_plain {
            intent
        } else {
            intent.showing(whole_request(&target, &message))
        })
    }

    async fn run(&self, input: FetchInput, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let (target, message) = self.check(&input)?;
        let deadline = Instant::now() + self.settings.time;
        let slow = WebError::Slow {
            host: target.reaches().to_string(),
            after: self.settings.time,
        };
        let following = follow(&self.web, target, message);
        let answer = timeout_at(deadline, following).await.map_err(|_| slow)??;
        let report = FetchReport::of(&answer);
        if let Some(result) = report.redirect() {
            return Ok(result);
        }
        if input.method == FetchMethod::Head {
            return report.head_result(answer.response.headers());
        }
        let worth = report.bytes_worth_reading(self.settings.download);
        let body = read(
            answer.response,
            worth,
            deadline,
            self.download_progress(scope),
        )
        .await;
        let most = self.most(&input);
        let format = input.format.into();
        // Converting a long page takes a while and would block the runtime.
        tokio::task::spawn_blocking(move || report.full_result(body, format, most)).await?
    }
}

impl Fetch {
    fn most(&self, input: &FetchInput) -> usize {
        let wanted = input.max_bytes.unwrap_or(self.settings.shown);
        wanted.clamp(1, self.settings.shown.max(1))
    }

    fn download_progress<'a>(&self, scope: &'a RunContext) -> DownloadProgress<'a> {
        DownloadProgress {
            patience: self.settings.patience,
            report: Box::new(move |bytes, total| scope.progress(progress(bytes, total))),
        }
    }
}

impl From<FetchFormat> for TextFormat {
    fn from(format: FetchFormat) -> Self {
        match format {
            FetchFormat::Text => TextFormat::Readable,
            FetchFormat::Raw => TextFormat::Raw,
        }
    }
}

fn progress(bytes: u64, total: Option<u64>) -> Progress {
    // The loss of precision does not matter here.
    let progress = Progress::at(bytes as f64);
    match total {
        Some(total) => progress
            .of(total as f64)
            .saying(format!("{bytes} of {total} bytes")),
        None => progress.saying(format!("{bytes} bytes")),
    }
}

/// Returns the whole request as text, so that the user sees everything that is sent.
fn whole_request(target: &WebTarget, message: &WebRequest) -> String {
    let mut text = format!("{} {target}", message.method);
    for (name, value) in &message.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        text.push_str(&format!("\n{name}: {}", clean_block(&value)));
    }
    if let Some(body) = &message.body {
        text.push_str("\n\n");
        text.push_str(&clean_block(body));
    }
    text
}

impl From<FetchMethod> for Method {
    fn from(method: FetchMethod) -> Self {
        match method {
            FetchMethod::Get => Method::GET,
            FetchMethod::Head => Method::HEAD,
            FetchMethod::Post => Method::POST,
        }
    }
}

fn message(input: &FetchInput) -> Result<WebRequest, WebError> {
    let method = Method::from(input.method);
    let body = input.body.clone();
    match &body {
        Some(body) if body.len() > LONGEST_BODY => {
            return Err(WebError::Body {
                bytes: body.len(),
                most: LONGEST_BODY,
            });
        }
        Some(_) if method != Method::POST => return Err(WebError::BodyWithout(method.to_string())),
        Some(_) | None => {}
    }
    Ok(WebRequest {
        method,
        headers: headers(&input.headers)?,
        body,
    })
}

fn headers(given: &BTreeMap<String, String>) -> Result<HeaderMap, WebError> {
    let mut headers = WebRequest::plain_get().headers;
    for (name, value) in given {
        let refused = |why| WebError::Header(clean_line(name, 100), why);
        let name = name.trim().to_ascii_lowercase();
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let parsed = parsed.map_err(|_| refused("it is no name of a header"))?;
        if is_reserved(&name) {
            return Err(refused("the connection sets it; leave it out"));
        }
        let value = HeaderValue::from_str(value);
        headers.insert(
            parsed,
            value.map_err(|_| refused("its value has characters that no header takes"))?,
        );
    }
    if given.len() > MOST_HEADERS {
        Err(WebError::Header(
            "…".to_owned(),
            "there are over 32 of them",
        ))
    } else {
        Ok(headers)
    }
}

/// Whether only the HTTP client may set this header. With a wrong value, the server or a proxy could see another
/// request than the one that was shown.
fn is_reserved(name: &str) -> bool {
    matches!(
        name,
        "host"
            | "connection"
            | "content-length"
            | "transfer-encoding"
            | "te"
            | "trailer"
            | "upgrade"
            | "expect"
            | "keep-alive"
            | "accept-encoding"
    ) || name.starts_with("proxy-")
}
