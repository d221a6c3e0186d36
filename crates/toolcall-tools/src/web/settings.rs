//! The limits of the fetch tool, and the private hosts that it may connect to.
//! A model cannot change them.

use std::time::Duration;

use super::target::WebTarget;

/// The settings of the fetch tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// Hosts that may have a private address: `localhost`, or `localhost:8080` for one port only.
    pub private: Vec<String>,
    /// The time limit of a fetch, including redirects.
    pub time: Duration,
    /// The longest time without any data from the server.
    pub silence: Duration,
    /// The maximum number of bytes to download, after decompression.
    pub download: usize,
    /// The maximum number of bytes of text to show.
    pub shown: usize,
    /// How long a download takes before it reports progress.
    pub patience: Duration,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            private: Vec::new(),
            time: Duration::from_secs(30),
            silence: Duration::from_secs(15),
            download: 8 * 1024 * 1024,
            shown: 1024 * 1024,
            patience: Duration::from_secs(1),
        }
    }
}

/// Hosts that may have a private address.
#[derive(Clone, Debug)]
pub(crate) struct PrivateHosts(Vec<String>);

impl PrivateHosts {
    pub(crate) fn new(names: &[String]) -> Self {
        Self(names.iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    pub(crate) fn contains(&self, target: &WebTarget) -> bool {
        let (host, reaches) = (target.host(), target.reaches());
        self.0
            .iter()
            .any(|name| *name == host || **name == *reaches)
    }
}
