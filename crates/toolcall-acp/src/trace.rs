//! The W3C trace context of a client's request, passed on unchanged.
//! It starts and ends no span.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::meta;

/// The longest value that is passed on. Servers refuse headers of that size.
const MAX_VALUE_LENGTH: usize = 8 * 1024;

/// The entries `traceparent`, `tracestate` and `baggage` of a request, as far as it has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceContext(Arc<[(Cow<'static, str>, String)]>);

impl TraceContext {
    /// Reads the entries from a request's `_meta`.
    pub fn from_meta(meta: Option<&Map<String, Value>>) -> Self {
        let entry = |key: &&'static str| {
            let value = meta?.get(*key)?.as_str()?;
            let fits = value.len() <= MAX_VALUE_LENGTH;
            fits.then(|| (Cow::Borrowed(*key), value.to_owned()))
        };
        Self(meta::TRACE.iter().filter_map(entry).collect())
    }

    /// Converts it for the requests that the tools of a turn make.
    pub(crate) fn to_core(&self) -> toolcall::Trace {
        let entries = self.0.iter();
        let entries = entries.map(|(key, value)| (Arc::from(&**key), Arc::from(value.as_str())));
        entries.collect()
    }

    /// Returns its entries, to put them into another `_meta`.
    pub fn entries(&self) -> &[(Cow<'static, str>, String)] {
        &self.0
    }
}

/// Serializes as a `_meta` object.
impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries().iter().map(|(key, value)| (key, value)))
    }
}
