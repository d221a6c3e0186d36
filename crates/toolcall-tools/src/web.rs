//! The HTTP client of the web tools: checks addresses, limits responses, converts pages to text.
//! It knows no tool, and never follows a redirect to another host.

mod address;
mod body;
mod charset;
mod client;
mod error;
mod follow;
mod media;
mod readable;
mod report;
mod search;
mod settings;
mod target;

pub use client::{Lookup, SystemLookup};
pub use error::WebError;
pub use search::{SearchSettings, Secret};
pub use settings::FetchSettings;

pub(crate) use body::{BodyExtent, DownloadProgress, read};
#[cfg(feature = "mcp")]
pub(crate) use client::tls;
pub(crate) use client::{WebClient, WebRequest};
pub(crate) use follow::follow;
pub(crate) use readable::readable;
pub(crate) use report::{FetchReport, TextFormat};
pub(crate) use search::{SearchHit, SearchService};
pub(crate) use settings::PrivateHosts;
pub(crate) use target::WebTarget;
