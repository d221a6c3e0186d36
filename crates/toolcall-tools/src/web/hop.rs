//! One request to one host, over a connection to an address that was checked.
//! It follows no redirect, uses no proxy and connects to nothing that it did not check itself.

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

use super::address::closed;
use super::failure::{WebError, causes};
use super::settings::PrivateHosts;
use super::target::Target;

/// Finds the addresses of a host.
pub trait Lookup: Send + Sync + 'static {
    /// Every address of this host.
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Asks the operating system.
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

/// What is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<String>,
}

impl Message {
    /// Asks for whatever is there.
    pub(crate) fn plain_get() -> Self {
        let accepted = HeaderValue::from_static("text/html, text/plain;q=0.9, */*;q=0.8");
        Self {
            method: Method::GET,
            headers: HeaderMap::from_iter([(ACCEPT, accepted)]),
            body: None,
        }
    }
}

/// The way to the web.
pub(crate) struct Web {
    pub(crate) lookup: Arc<dyn Lookup>,
    pub(crate) private: PrivateHosts,
    pub(crate) silence: Duration,
}

impl Web {
    /// Sends a message to a target and returns the head of the answer.
    pub(crate) async fn send(
        &self,
        target: &Target,
        message: &Message,
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

    /// Refuses a host that is itself an address, and no open one.
    pub(crate) fn check_literal(&self, target: &Target) -> Result<(), WebError> {
        match target.literal() {
            Some(address) => self.check(target, address),
            None => Ok(()),
        }
    }

    fn check(&self, target: &Target, address: IpAddr) -> Result<(), WebError> {
        match closed(address) {
            Some(what) if !self.private.contains(target) => Err(WebError::Closed {
                host: target.reaches().to_string(),
                address,
                what,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Every address of the target, all checked: one closed address among them is one too many.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, WebError> {
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

    async fn look_up(&self, target: &Target) -> Result<Vec<IpAddr>, WebError> {
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

    /// A client that knows no other addresses than these. Each hop has its own, so that no
    /// connection outlives the check that it passed.
    fn client(&self, target: &Target, addresses: Vec<SocketAddr>) -> Result<Client, WebError> {
        let built = Client::builder()
            .dns_resolver(Arc::new(Pinned(addresses)))
            .tls_backend_preconfigured(tls(target.url().scheme())?)
            .redirect(reqwest::redirect::Policy::none())
            // Through a proxy, the address that is connected to is not the one that was checked.
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

/// Answers every question with the addresses that were checked, whatever the name.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// The crypto provider is named here, because a library cannot know whether its process set one.
/// Certificates are the system's, so that those of a company work; plain http trusts none.
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

fn broken(target: &Target, error: reqwest::Error) -> WebError {
    WebError::Broken {
        host: target.reaches().to_string(),
        why: causes(error),
    }
}
