//! Sends one request to one host, over a connection to a checked address.
//! It follows no redirect, uses no proxy, and connects to no address that it did not check.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Response};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use toolcall::BoxFuture;

use super::address::non_public;
use super::error::{WebError, causes};
use super::settings::PrivateHosts;
use super::target::WebTarget;

/// A DNS lookup. Implement it to resolve hosts in another way, for example in tests.
pub trait Lookup: Send + Sync + 'static {
    /// Returns all addresses of this host.
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The DNS lookup of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A request without its address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WebRequest {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<String>,
}

impl WebRequest {
    /// Returns a `GET` request that accepts any type.
    pub(crate) fn plain_get() -> Self {
        let accepted = HeaderValue::from_static("text/html, text/plain;q=0.9, */*;q=0.8");
        Self {
            method: Method::GET,
            headers: HeaderMap::from_iter([(ACCEPT, accepted)]),
            body: None,
        }
    }
}

/// An HTTP client that connects only to allowed addresses.
pub(crate) struct WebClient {
    pub(crate) lookup: Arc<dyn Lookup>,
    pub(crate) private: PrivateHosts,
    pub(crate) silence: Duration,
}

impl WebClient {
    /// Sends a request and returns the response, whose body is not read yet.
    pub(crate) async fn send(
        &self,
        target: &WebTarget,
        message: &WebRequest,
    ) -> Result<Response, WebError> {
        let addresses = self.addresses(target).await?;
        let client = self.client(target, addresses)?;
        let mut request = client.request(message.method.clone(), target.url().clone());
        request = request.headers(message.headers.clone());
        if let Some(body) = &message.body {
            request = request.body(body.clone());
        }
        request.send().await.map_err(|error| broken(target, error))
    }

    /// Fails if the host is an IP address that is not public and not allowed.
    pub(crate) fn check_literal(&self, target: &WebTarget) -> Result<(), WebError> {
        match target.literal() {
            Some(address) => self.check(target, address),
            None => Ok(()),
        }
    }

    fn check(&self, target: &WebTarget, address: IpAddr) -> Result<(), WebError> {
        match non_public(address) {
            Some(what) if !self.private.contains(target) => Err(WebError::Closed {
                host: target.reaches().to_string(),
                address,
                what,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns all addresses of the target. Fails if a single one is not public and not allowed.
    async fn addresses(&self, target: &WebTarget) -> Result<Vec<SocketAddr>, WebError> {
        let found = match target.literal() {
            Some(address) => vec![address],
            None => self.look_up(target).await?,
        };
        for address in &found {
            self.check(target, *address)?;
        }
        let with_port = |address| SocketAddr::new(address, target.port());
        Ok(found.into_iter().map(with_port).collect())
    }

    async fn look_up(&self, target: &WebTarget) -> Result<Vec<IpAddr>, WebError> {
        let not_found = |why: String| WebError::NotFound {
            host: target.host().to_owned(),
            why,
        };
        let found = self.lookup.lookup(target.host()).await;
        let found = found.map_err(|error| not_found(error.to_string()))?;
        if found.is_empty() {
            Err(not_found("it has no address".to_owned()))
        } else {
            Ok(found)
        }
    }

    /// Creates a client that connects to these addresses only. Each request has its own client, so that no
    /// connection is reused without a check.
    fn client(&self, target: &WebTarget, addresses: Vec<SocketAddr>) -> Result<Client, WebError> {
        let built = Client::builder()
            .dns_resolver(Arc::new(PinnedResolver(addresses)))
            .tls_backend_preconfigured(tls(target.url().scheme())?)
            .redirect(reqwest::redirect::Policy::none())
            // A proxy would connect to an address that was not checked.
            .no_proxy()
            .referer(false)
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .connect_timeout(self.silence)
            .read_timeout(self.silence)
            .user_agent(concat!("toolcall/", env!("CARGO_PKG_VERSION")))
            .build();
        built.map_err(|error| broken(target, error))
    }
}

/// Resolves every name to the checked addresses.
struct PinnedResolver(Vec<SocketAddr>);

impl Resolve for PinnedResolver {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// Returns the TLS configuration. It names the crypto provider, because a library cannot know whether the process
/// set one. It uses the system's certificates, so that those of a company work; plain http trusts none.
pub(crate) fn tls(scheme: &str) -> Result<ClientConfig, WebError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let no_certificates = |error: rustls::Error| WebError::Certificates(error.to_string());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(no_certificates)?;
    if scheme != "https" {
        let none = RootCertStore::empty();
        return Ok(builder.with_root_certificates(none).with_no_client_auth());
    }
    let verified = builder.with_platform_verifier().map_err(no_certificates)?;
    Ok(verified.with_no_client_auth())
}

fn broken(target: &WebTarget, error: reqwest::Error) -> WebError {
    WebError::Broken {
        host: target.reaches().to_string(),
        why: causes(error),
    }
}
