//! The W3C trace context that a client hands us, to be handed on.
//! It is carried as it came; nothing here starts or ends a span.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::meta;

/// The longest value that is handed on: a header of that size is refused everywhere.
const LONGEST: usize = 8 * 1024;

/// `traceparent`, `tracestate` and `baggage`, as far as there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceContext(Arc<[(Cow<'static, str>, String)]>);

impl TraceContext {
    /// What a request's `_meta` says.
    pub fn from_meta(meta: Option<&Map<String, Value>>) -> Self {
        let entry = |key: &&'static str| {
            let value = meta?.get(*key)?.as_str()?;
            let fits = value.len() <= LONGEST;
            fits.then(|| (Cow::Borrowed(*key), value.to_owned()))
        };
        Self(meta::TRACE.iter().filter_map(entry).collect())
    }

    /// Its entries, for what the tools of a turn call.
    pub(crate) fn handed_on(&self) -> toolcall::Trace {
        let entries = self.0.iter();
        let entries = entries.map(|(key, value)| (Arc::from(&**key), Arc::from(value.as_str())));
        entries.collect()
    }

    /// Its entries, to be put into another `_meta`.
    pub fn entries(&self) -> &[(Cow<'static, str>, String)] {
        &self.0
    }
}

/// As a `_meta` of its own.
impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries().iter().map(|(key, value)| (key, value)))
    }
}
