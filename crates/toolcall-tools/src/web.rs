//! The web, as tools reach it: checked addresses, bounded answers, text that can be read.
//! It knows no tool, and follows nothing to a host that was not stated.

mod address;
mod body;
mod charset;
mod failure;
mod follow;
mod hop;
mod media;
mod readable;
mod report;
mod search;
mod settings;
mod target;

pub use failure::WebError;
pub use hop::{Lookup, SystemLookup};
pub use search::{SearchSettings, Secret};
pub use settings::FetchSettings;

pub(crate) use body::{Extent, Watch, read};
pub(crate) use follow::follow;
#[cfg(feature = "mcp")]
pub(crate) use hop::tls;
pub(crate) use hop::{Message, Web};
pub(crate) use readable::readable;
pub(crate) use report::{Format, Report};
pub(crate) use search::{Finding, Provider};
pub(crate) use settings::PrivateHosts;
pub(crate) use target::Target;
