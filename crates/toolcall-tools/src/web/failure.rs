//! Why something on the web was not reached, in words that say what to do next.
//! No message holds a key, a header or a body.

use std::net::IpAddr;
use std::time::Duration;

/// Why something on the web was not reached.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// It is no address of the web.
    #[error(
        "`{text}` is not an address: {why}; give a whole one, such as `https://example.com/page`"
    )]
    NoAddress {
        /// What was given, shortened.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// Neither http nor https.
    #[error("`{0}` is not fetched; only http and https are")]
    Scheme(String),
    /// A name or password in the address.
    #[error("the address holds a user name or a password; leave them out")]
    Credentials,
    /// A host with an address that is not of the open internet.
    #[error(
        "`{host}` leads to {address}, which is {what}, so it is not reached; whoever runs this may allow `{host}` in the settings"
    )]
    Closed {
        /// The host, with its port if it is not the usual one.
        host: String,
        /// Where it leads.
        address: IpAddr,
        /// What sort of address that is.
        what: &'static str,
    },
    /// The name leads nowhere.
    #[error("the host `{host}` was not found: {why}; check the name")]
    NotFound {
        /// The host.
        host: String,
        /// What the resolver said.
        why: String,
    },
    /// One redirect after the other.
    #[error("gave up after {0} redirects, at `{1}`")]
    Redirects(usize, String),
    /// A header that cannot be sent.
    #[error("the header `{0}` cannot be sent: {1}")]
    Header(String, &'static str),
    /// Too much to send.
    #[error("the body has {bytes} bytes; at most {most} are sent")]
    Body {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// A body where none is sent.
    #[error("{0} sends no body; leave `body` out, or use POST")]
    BodyWithout(String),
    /// It took too long.
    #[error("`{host}` did not answer in full within {after:?}; try again later, or ask for less")]
    Slow {
        /// The host.
        host: String,
        /// The time it had.
        after: Duration,
    },
    /// No certificates to check the other side by.
    #[error("this machine has no certificates to check https by: {0}")]
    Certificates(String),
    /// Anything on the way there or back.
    #[error("`{host}` could not be reached: {why}")]
    Broken {
        /// The host.
        host: String,
        /// What happened.
        why: String,
    },
    /// A search key that cannot be sent.
    #[error("the key of the search has characters that no header takes; check the setting")]
    Key,
}

/// An error of the client with its causes, without the address: what it holds may be secret.
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
