//! Redirects: which are followed, and with what.
//! It never goes to another host, to another port or back from https to http.

use reqwest::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, LOCATION};
use reqwest::{Method, Response, StatusCode};

use super::failure::WebError;
use super::hop::{Message, Web};
use super::target::Target;

const MOST: usize = 5;

/// The answer that ended it.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Where it came from.
    pub(crate) target: Target,
    pub(crate) response: Response,
    /// How many redirects were followed.
    pub(crate) followed: usize,
    /// Where it leads that was not followed.
    pub(crate) elsewhere: Option<Target>,
}

/// Sends a message, and again wherever the same host redirects to.
pub(crate) async fn follow(
    web: &Web,
    mut target: Target,
    mut message: Message,
) -> Result<Answer, WebError> {
    for followed in 0..=MOST {
        let response = web.send(&target, &message).await?;
        let elsewhere = match lead(&target, &response)? {
            Lead::On(next) => {
                message = carried_on(message, response.status());
                target = next;
                continue;
            }
            Lead::Away(next) => Some(next),
            Lead::Nowhere => None,
        };
        return Ok(Answer {
            target,
            response,
            followed,
            elsewhere,
        });
    }
    Err(WebError::Redirects(MOST, target.to_string()))
}

/// Where an answer leads.
enum Lead {
    Nowhere,
    /// To where it may be followed.
    On(Target),
    /// To where it may not.
    Away(Target),
}

fn lead(from: &Target, response: &Response) -> Result<Lead, WebError> {
    let Some(location) = location(response) else {
        return Ok(Lead::Nowhere);
    };
    let next = from.join(&location)?;
    Ok(if is_same_host(from, &next) {
        Lead::On(next)
    } else {
        Lead::Away(next)
    })
}

/// Where an answer redirects to.
fn location(response: &Response) -> Option<String> {
    let redirects = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| redirects)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// The same name to a policy, and not less secure: what was approved covers it.
fn is_same_host(from: &Target, to: &Target) -> bool {
    from.reaches() == to.reaches() && (to.is_secure() || !from.is_secure())
}

/// What is sent to where a redirect leads: as browsers do it.
fn carried_on(mut message: Message, status: StatusCode) -> Message {
    let becomes_get = match status.as_u16() {
        303 => message.method != Method::HEAD,
        301 | 302 => message.method == Method::POST,
        _kept => false,
    };
    if becomes_get {
        message.method = Method::GET;
        message.body = None;
        for header in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE] {
            message.headers.remove(header);
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_host_is_followed() {
        let table = [
            ("http://a.example/", "http://A.example:80/x", true),
            ("http://a.example/", "https://a.example/", true),
            ("http://a.example/", "https://a.example./", true),
            ("https://a.example/", "http://a.example/", false),
            ("http://a.example/", "http://b.example/", false),
            ("http://a.example/", "http://a.example:8080/", false),
            ("http://a.example:8080/", "https://a.example:8080/", true),
            ("http://a.example:8080/", "https://a.example/", false),
            ("http://a.example/", "http://a.example.evil.example/", false),
            ("http://1.1.1.1/", "http://16843009/", true),
        ];
        for (from, to, expected) in table {
            let target = |text| Target::parse(text).expect("an address");
            let followed = is_same_host(&target(from), &target(to));
            assert_eq!(followed, expected, "{from} {to}");
        }
    }
}
