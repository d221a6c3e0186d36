//! What may be reached, and how much and how long: values that whoever builds the tools hands in.
//! Nothing of it can be changed by a model.

use std::time::Duration;

use super::target::Target;

/// What the fetch tool may reach, and its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// Hosts that may have a private address: `localhost`, or `localhost:8080` for one port only.
    pub private: Vec<String>,
    /// How long a whole fetch may take, redirects included.
    pub time: Duration,
    /// How long the other side may be silent.
    pub silence: Duration,
    /// Bytes that are downloaded at most, after decompression.
    pub download: usize,
    /// Bytes of text that are shown at most.
    pub shown: usize,
    /// How long a download takes before its progress is told.
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

    pub(crate) fn contains(&self, target: &Target) -> bool {
        let (host, reaches) = (target.host(), target.reaches());
        self.0
            .iter()
            .any(|name| *name == host || **name == *reaches)
    }
}
