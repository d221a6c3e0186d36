//! Errors of the web tools, with what to do next.
//! No message contains a key, the value of a header or a body.

use std::net::IpAddr;
use std::time::Duration;

/// Why a web request failed or was not sent.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The text is not a URL.
    #[error(
        "`{text}` is not an address: {why}; give a whole one, such as `https://example.com/page`"
    )]
    NoAddress {
        /// The text, shortened.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The scheme is neither http nor https.
    #[error("`{0}` is not fetched; only http and https are")]
    Scheme(String),
    /// The URL contains a user name or a password.
    #[error("the address holds a user name or a password; leave them out")]
    Credentials,
    /// The host has an address that is not public.
    #[error(
        "`{host}` leads to {address}, which is {what}, so it is not reached; the user can allow `{host}` in the settings"
    )]
    Closed {
        /// The host, with its port if it is not the default.
        host: String,
        /// The address of the host.
        address: IpAddr,
        /// What kind of address that is.
        what: &'static str,
    },
    /// The host name was not found.
    #[error("the host `{host}` was not found: {why}; check the name")]
    NotFound {
        /// The host.
        host: String,
        /// The error of the lookup.
        why: String,
    },
    /// Too many redirects.
    #[error("gave up after {0} redirects, at `{1}`")]
    Redirects(usize, String),
    /// A header that must not or cannot be sent.
    #[error("the header `{0}` cannot be sent: {1}")]
    Header(String, &'static str),
    /// The body is too long.
    #[error("the body has {bytes} bytes; at most {most} are sent")]
    Body {
        /// The length of the body.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// A body for a method that sends none.
    #[error("{0} sends no body; leave `body` out, or use POST")]
    BodyWithout(String),
    /// The time limit passed.
    #[error("`{host}` did not answer in full within {after:?}; try again later, or ask for less")]
    Slow {
        /// The host.
        host: String,
        /// The time limit.
        after: Duration,
    },
    /// The system has no root certificates.
    #[error("this machine has no certificates to check https by: {0}")]
    Certificates(String),
    /// The connection failed.
    #[error("`{host}` could not be reached: {why}")]
    Broken {
        /// The host.
        host: String,
        /// What happened.
        why: String,
    },
    /// A search key with characters that a header cannot contain.
    #[error("the key of the search has characters that no header takes; check the setting")]
    Key,
}

/// Returns an error of the client with its sources, without the URL, which may contain secrets.
pub(crate) fn causes(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "nothing came for too long".to_owned();
    }
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}
