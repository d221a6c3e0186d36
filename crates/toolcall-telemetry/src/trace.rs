//! Where a span stands among others, as W3C trace context says it.
//! It reads and writes `traceparent`; it starts no span and makes up no id.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The longest `tracestate` that is handed on; the standard asks for no more.
const LONGEST_STATE: usize = 512;

/// A span that others can be children of: what a `traceparent` header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub(crate) trace: u128,
    pub(crate) span: u64,
    pub(crate) sampling: Sampling,
    pub(crate) state: Option<Arc<str>>,
}

/// Whether a trace is kept. Children do as their parent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    Kept,
    LeftOut,
}

/// Why a text is no `traceparent`.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TraceError {
    /// It has another form.
    #[error(
        "a `traceparent` is `00-`, 32 digits, `-`, 16 digits, `-`, 2 digits, in lower-case hex"
    )]
    Form,
    /// An id is zero.
    #[error("a `traceparent` has ids other than zero")]
    Zero,
}

impl TraceParent {
    /// Reads a `traceparent`. Of a later version, what is known of this one is read.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut parts = text.split('-');
        let mut next = |digits: usize| hex(parts.next(), digits);
        let (version, trace, span, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
        let has_more = parts.next().is_some();
        if version == 0xff || version == 0 && has_more {
            return Err(TraceError::Form);
        }
        let span = u64::try_from(span).map_err(|_| TraceError::Form)?;
        if trace == 0 || span == 0 {
            return Err(TraceError::Zero);
        }
        Ok(Self {
            trace,
            span,
            sampling: match flags & 1 {
                0 => Sampling::LeftOut,
                1.. => Sampling::Kept,
            },
            state: None,
        })
    }

    /// With the `tracestate` that came along. One that is too long, or no plain text, is left out.
    pub fn with_state(mut self, state: &str) -> Self {
        let is_plain = |c: char| c.is_ascii_graphic() || c == ' ';
        let fits = !state.is_empty() && state.len() <= LONGEST_STATE;
        self.state = (fits && state.chars().all(is_plain)).then(|| state.into());
        self
    }

    /// The `tracestate`, to be handed on beside the `traceparent`.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

/// As a `traceparent`, to be handed on.
impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = match self.sampling {
            Sampling::Kept => 1,
            Sampling::LeftOut => 0,
        };
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }
}

fn hex(part: Option<&str>, digits: usize) -> Result<u128, TraceError> {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let part = part
        .filter(|part| part.len() == digits && part.chars().all(is_digit))
        .ok_or(TraceError::Form)?;
    u128::from_str_radix(part, 16).map_err(|_| TraceError::Form)
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
            ("", TraceError::Form),
            ("00", TraceError::Form),
            (&KEPT[..54], TraceError::Form),
            (&KEPT.to_uppercase(), TraceError::Form),
            (&KEPT.replacen("00", "ff", 1), TraceError::Form),
            (&format!("{KEPT}-more"), TraceError::Form),
            (&KEPT.replace("b7ad", "b7é"), TraceError::Form),
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
        for bad in ["", "a=\n", "a=é", &"x".repeat(LONGEST_STATE + 1)] {
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
