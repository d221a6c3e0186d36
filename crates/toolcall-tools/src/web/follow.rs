//! Follows redirects within the same host.
//! It never follows one to another host or port, or from https to http.

use reqwest::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, LOCATION};
use reqwest::{Method, Response, StatusCode};

use super::client::{WebClient, WebRequest};
use super::error::WebError;
use super::target::WebTarget;

const MOST: usize = 5;

/// The response after the last followed redirect.
#[derive(Debug)]
pub(crate) struct FinalResponse {
    /// The address that sent it.
    pub(crate) target: WebTarget,
    pub(crate) response: Response,
    /// How many redirects were followed.
    pub(crate) followed: usize,
    /// The target of a redirect to another host, which was not followed.
    pub(crate) elsewhere: Option<WebTarget>,
}

/// Sends a request, and sends it again for each redirect to the same host.
pub(crate) async fn follow(
    web: &WebClient,
    mut target: WebTarget,
    mut message: WebRequest,
) -> Result<FinalResponse, WebError> {
    for followed in 0..=MOST {
        let response = web.send(&target, &message).await?;
        let elsewhere = match redirect(&target, &response)? {
            RedirectTarget::Follow(next) => {
                message = redirected_request(message, response.status());
                target = next;
                continue;
            }
            RedirectTarget::OtherHost(next) => Some(next),
            RedirectTarget::None => None,
        };
        return Ok(FinalResponse {
            target,
            response,
            followed,
            elsewhere,
        });
    }
    Err(WebError::Redirects(MOST, target.to_string()))
}

/// Where a response redirects to.
enum RedirectTarget {
    None,
    /// To the same host, so it is followed.
    Follow(WebTarget),
    /// To another host.
    OtherHost(WebTarget),
}

fn redirect(from: &WebTarget, response: &Response) -> Result<RedirectTarget, WebError> {
    let Some(location) = location(response) else {
        return Ok(RedirectTarget::None);
    };
    let next = from.join(&location)?;
    Ok(if is_same_host(from, &next) {
        RedirectTarget::Follow(next)
    } else {
        RedirectTarget::OtherHost(next)
    })
}

/// Returns the `location` of a redirect.
fn location(response: &Response) -> Option<String> {
    let redirects = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| redirects)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// Whether the host is the same to a policy and the scheme not less secure, so that the approval covers it.
fn is_same_host(from: &WebTarget, to: &WebTarget) -> bool {
    from.reaches() == to.reaches() && (to.is_secure() || !from.is_secure())
}

/// Returns the request for the target of a redirect, as browsers send it.
fn redirected_request(mut message: WebRequest, status: StatusCode) -> WebRequest {
    let becomes_get = match status.as_u16() {
        303 => message.method != Method::HEAD,
        301 | 302 => message.method == Method::POST,
        _other => false,
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
            let target = |text| WebTarget::parse(text).expect("an address");
            let followed = is_same_host(&target(from), &target(to));
            assert_eq!(followed, expected, "{from} {to}");
        }
    }
}
