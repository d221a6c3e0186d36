//! The address of a request: an http or https URL without credentials, and its host as policies name it.
//! It does no DNS lookup.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use toolcall::text::clean_line;
use url::{Host, Url};

use super::error::WebError;

/// Servers accept about this much, and the user should be able to see all of it.
const LONGEST: usize = 8 * 1024;

/// The checked URL of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebTarget(Url);

impl WebTarget {
    pub(crate) fn parse(text: &str) -> Result<Self, WebError> {
        if text.len() > LONGEST {
            return Err(no_address(text, format!("it is over {LONGEST} bytes long")));
        }
        let url = Url::parse(text).map_err(|error| no_address(text, error.to_string()))?;
        Self::of(url)
    }

    /// Resolves the target of a redirect or a link relative to this URL.
    pub(crate) fn join(&self, location: &str) -> Result<Self, WebError> {
        let joined = self.0.join(location);
        let url = joined.map_err(|error| no_address(location, error.to_string()))?;
        if url.as_str().len() > LONGEST {
            return Err(no_address(
                location,
                format!("it is over {LONGEST} bytes long"),
            ));
        }
        Self::of(url)
    }

    fn of(mut url: Url) -> Result<Self, WebError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WebError::Scheme(clean_line(url.scheme(), 40)));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(WebError::Credentials);
        }
        // DNS treats `example.com.` as `example.com`, so rules must, too.
        let host = url.host_str().unwrap_or_default();
        if host.ends_with('.') {
            let bare = host.trim_end_matches('.').to_owned();
            let set = url.set_host(Some(&bare));
            set.map_err(|error| no_address(&bare, error.to_string()))?;
        }
        Ok(Self(url))
    }

    /// Returns the host in lower case, with the port if it is not the default of the scheme.
    pub(crate) fn reaches(&self) -> Arc<str> {
        match self.0.port() {
            Some(port) => format!("{}:{port}", self.host()).into(),
            None => self.host().into(),
        }
    }

    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns the IP address, if the host is one.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        match self.0.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) | None => None,
        }
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Returns this URL with these pairs added to its query.
    pub(crate) fn with_query(&self, pairs: &[(&str, &str)]) -> Self {
        let mut url = self.0.clone();
        url.query_pairs_mut().extend_pairs(pairs);
        Self(url)
    }
}

impl fmt::Display for WebTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

fn no_address(text: &str, why: String) -> WebError {
    WebError::NoAddress {
        text: clean_line(text, 200),
        why,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let shown = match WebTarget::parse(text) {
            Ok(target) => format!(
                "{target} reaches {} {:?}",
                target.reaches(),
                target.literal()
            ),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn addresses_are_read_as_policies_know_them() {
        check(
            "https://Example.COM:443/a b",
            expect!["https://example.com/a%20b reaches example.com None"],
        );
        check(
            "http://example.com:443",
            expect!["http://example.com:443/ reaches example.com:443 None"],
        );
        check(
            "http://example.com:8080/",
            expect!["http://example.com:8080/ reaches example.com:8080 None"],
        );
        check(
            "http://example.com./",
            expect!["http://example.com/ reaches example.com None"],
        );
        check(
            "http://example.com../",
            expect!["http://example.com/ reaches example.com None"],
        );
        check(
            "http://./",
            expect![
                "`` is not an address: empty host; give a whole one, such as `https://example.com/page`"
            ],
        );
        check(
            "https://bücher.example/ü",
            expect!["https://xn--bcher-kva.example/%C3%BC reaches xn--bcher-kva.example None"],
        );
        check(
            "https://exa\u{200b}mple.com/\u{202e}x\n",
            expect!["https://example.com/%E2%80%AEx reaches example.com None"],
        );
        check(
            " https://example.com/x\ty ",
            expect!["https://example.com/xy reaches example.com None"],
        );
    }

    #[test]
    fn every_spelling_of_an_address_is_that_address() {
        check(
            "http://2130706433/",
            expect!["http://127.0.0.1/ reaches 127.0.0.1 Some(127.0.0.1)"],
        );
        check(
            "http://0x7f.1/",
            expect!["http://127.0.0.1/ reaches 127.0.0.1 Some(127.0.0.1)"],
        );
        check(
            "http://0177.0.0.01/",
            expect!["http://127.0.0.1/ reaches 127.0.0.1 Some(127.0.0.1)"],
        );
        check(
            "http://127.1./",
            expect!["http://127.0.0.1/ reaches 127.0.0.1 Some(127.0.0.1)"],
        );
        check(
            "http://１２７.0.0.1/",
            expect!["http://127.0.0.1/ reaches 127.0.0.1 Some(127.0.0.1)"],
        );
        check(
            "http://0/",
            expect!["http://0.0.0.0/ reaches 0.0.0.0 Some(0.0.0.0)"],
        );
        check(
            "http://[::ffff:7f00:1]/",
            expect!["http://[::ffff:7f00:1]/ reaches [::ffff:7f00:1] Some(::ffff:127.0.0.1)"],
        );
        check(
            "http://[0:0:0:0:0:0:0:1]:81/",
            expect!["http://[::1]:81/ reaches [::1]:81 Some(::1)"],
        );
        check(
            "http://256.1.1.1/",
            expect![
                "`http://256.1.1.1/` is not an address: invalid IPv4 address; give a whole one, such as `https://example.com/page`"
            ],
        );
        check(
            "http://%31%32%37.1/",
            expect!["http://127.0.0.1/ reaches 127.0.0.1 Some(127.0.0.1)"],
        );
    }

    #[test]
    fn what_is_not_fetched() {
        check(
            "file:///etc/passwd",
            expect!["`file` is not fetched; only http and https are"],
        );
        check(
            "ftp://example.com",
            expect!["`ftp` is not fetched; only http and https are"],
        );
        check(
            "javascript:alert(1)",
            expect!["`javascript` is not fetched; only http and https are"],
        );
        check(
            "https://user:pw@example.com",
            expect!["the address holds a user name or a password; leave them out"],
        );
        check(
            "https://example.com@evil.example/",
            expect!["the address holds a user name or a password; leave them out"],
        );
        check(
            "example.com",
            expect![
                "`example.com` is not an address: relative URL without a base; give a whole one, such as `https://example.com/page`"
            ],
        );
        check(
            "https://",
            expect![
                "`https://` is not an address: empty host; give a whole one, such as `https://example.com/page`"
            ],
        );
        check(
            "",
            expect![
                "`` is not an address: relative URL without a base; give a whole one, such as `https://example.com/page`"
            ],
        );
    }
}
