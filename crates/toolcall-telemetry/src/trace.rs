//! W3C trace context: parses and formats `traceparent`.
//! It starts no span and generates no id.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The longest `tracestate` that is propagated; the standard requires no more.
const MAX_STATE: usize = 512;

/// The identity of a span that others can be children of: the content of a `traceparent` header.
///
/// ```
/// use toolcall_telemetry::TraceParent;
///
/// let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let parent = TraceParent::parse(header)?.with_state("vendor=1");
/// assert_eq!(parent.to_string(), header);
/// assert_eq!(parent.state(), Some("vendor=1"));
/// # Ok::<(), toolcall_telemetry::TraceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub(crate) trace: u128,
    pub(crate) span: u64,
    pub(crate) sampling: Sampling,
    pub(crate) state: Option<Arc<str>>,
}

/// Whether a trace is sampled. Children inherit it from their parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    Sampled,
    NotSampled,
}

/// Why a text is not a `traceparent`.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TraceError {
    /// It has another format.
    #[error(
        "a `traceparent` is `00-`, 32 digits, `-`, 16 digits, `-`, 2 digits, in lower-case hex"
    )]
    Malformed,
    /// An id is zero.
    #[error("the ids of a `traceparent` must not be zero")]
    Zero,
}

impl TraceParent {
    /// Parses a `traceparent`. Of a later version, the fields of version 00 are read.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut parts = text.split('-');
        let mut next = |digits: usize| hex(parts.next(), digits);
        let (version, trace, span, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
        let has_more = parts.next().is_some();
        if version == 0xff || version == 0 && has_more {
            return Err(TraceError::Malformed);
        }
        let span = u64::try_from(span).map_err(|_| TraceError::Malformed)?;
        if trace == 0 || span == 0 {
            return Err(TraceError::Zero);
        }
        Ok(Self {
            trace,
            span,
            sampling: match flags & 1 {
                0 => Sampling::NotSampled,
                1.. => Sampling::Sampled,
            },
            state: None,
        })
    }

    /// Sets the `tracestate`. One that is too long or not printable ASCII is ignored.
    pub fn with_state(mut self, state: &str) -> Self {
        let is_plain = |c: char| c.is_ascii_graphic() || c == ' ';
        let fits = !state.is_empty() && state.len() <= MAX_STATE;
        self.state = (fits && state.chars().all(is_plain)).then(|| state.into());
        self
    }

    /// Returns the `tracestate`, to be propagated beside the `traceparent`.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

/// Formats it as a `traceparent` header.
impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = match self.sampling {
            Sampling::Sampled => 1,
            Sampling::NotSampled => 0,
        };
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }
}

fn hex(part: Option<&str>, digits: usize) -> Result<u128, TraceError> {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let part = part
        .filter(|part| part.len() == digits && part.chars().all(is_digit))
        .ok_or(TraceError::Malformed)?;
    u128::from_str_radix(part, 16).map_err(|_| TraceError::Malformed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEPT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn what_is_written_is_what_was_read() {
        let left_out = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
        for text in [KEPT, left_out] {
            assert_eq!(TraceParent::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        let later = KEPT.replacen("00", "cc", 1) + "-what-is-new";
        assert_eq!(TraceParent::parse(&later).unwrap().to_string(), KEPT);
    }

    #[test]
    fn nothing_else_is_read() {
        for (text, why) in [
            ("", TraceError::Malformed),
            ("00", TraceError::Malformed),
            (&KEPT[..54], TraceError::Malformed),
            (&KEPT.to_uppercase(), TraceError::Malformed),
            (&KEPT.replacen("00", "ff", 1), TraceError::Malformed),
            (&format!("{KEPT}-more"), TraceError::Malformed),
            (&KEPT.replace("b7ad", "b7é"), TraceError::Malformed),
            (
                &KEPT.replace("b7ad6b7169203331", &"0".repeat(16)),
                TraceError::Zero,
            ),
            (
                &KEPT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
                TraceError::Zero,
            ),
        ] {
            assert_eq!(TraceParent::parse(text), Err(why), "{text}");
        }
    }

    #[test]
    fn a_state_is_handed_on_if_it_is_plain_and_short() {
        let with = |state: &str| TraceParent::parse(KEPT).unwrap().with_state(state).state;
        assert_eq!(with("vendor=1,b=2").as_deref(), Some("vendor=1,b=2"));
        for bad in ["", "a=\n", "a=é", &"x".repeat(MAX_STATE + 1)] {
            assert_eq!(with(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in ".*") {
            if let Ok(parent) = TraceParent::parse(&text) {
                prop_assert_eq!(TraceParent::parse(&parent.to_string()), Ok(parent));
            }
        }
    }
}
