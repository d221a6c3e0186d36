//! The streamable HTTP transport to a server.
//! It follows redirects within the same origin only, uses no proxy, and shows no header.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::lines::LONGEST_LINE;
use super::settings::Address;
use crate::web::tls;

pub(super) type HttpTransport = StreamableHttpClientTransport<reqwest::Client>;

const TO_CONNECT: Duration = Duration::from_secs(20);
const MOST_REDIRECTS: usize = 3;
/// An engine runs at most this many calls at once.
const MOST_REQUESTS: usize = 64;

/// Creates the transport for this address. It connects with the first message.
pub(super) fn open(address: &Address) -> Result<HttpTransport, String> {
    let tls = tls(address.url.scheme()).map_err(|error| error.to_string())?;
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::custom(same_origin))
        .no_proxy()
        // Without decompression, a small response cannot become a large one.
        .no_gzip()
        .no_deflate()
        .referer(false)
        .connect_timeout(TO_CONNECT)
        .user_agent(concat!("toolcall/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("no connection can be made: {error}"))?;
    let config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
        .custom_headers(headers(address)?)
        .max_concurrent_requests(MOST_REQUESTS)
        .max_sse_event_size(LONGEST_LINE);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Follows redirects to the same origin only, because the headers hold keys for it, and only 307 and 308, because
/// the others change the request.
fn same_origin(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let is_same = |from: &reqwest::Url| from.origin() == attempt.url().origin();
    let is_same_origin = attempt.previous().iter().all(is_same);
    let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
    if is_same_origin && keeps_method && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn headers(address: &Address) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut headers = HashMap::new();
    for (name, value) in &address.headers {
        let wrong = || format!("the header `{name}` cannot be sent; write another name or value");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}
