//! The progress of a tool, which never decreases on a call.
//! Tools report it and readers show it; nothing is decided by it.

use std::sync::Arc;

use crate::text::clean_line;

/// The progress of a tool.
///
/// ```
/// use toolcall::Progress;
///
/// let progress = Progress::at(3.0).of(4.0).saying("copying");
/// assert_eq!(progress.fraction(), Some(0.75));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    current: f64,
    total: Option<f64>,
    fraction: Option<f64>,
    message: Option<Arc<str>>,
}

impl Progress {
    /// Creates progress with this many steps done. A number that is not finite counts as 0.
    pub fn at(current: f64) -> Self {
        Self {
            current: if current.is_finite() { current } else { 0.0 },
            ..Self::default()
        }
    }

    /// Sets the total number of steps. A total that is not a positive number counts as unknown.
    pub fn of(mut self, total: f64) -> Self {
        self.total = (total.is_finite() && total > 0.0).then_some(total);
        self.fraction = self
            .total
            .map(|total| (self.current / total).clamp(0.0, 1.0));
        self
    }

    /// Sets the fraction that is done, where that is known better than by steps. A number that is
    /// not finite counts as unknown.
    pub fn part(mut self, fraction: f64) -> Self {
        let is_known = fraction.is_finite();
        self.fraction = is_known.then(|| fraction.clamp(0.0, 1.0)).or(self.fraction);
        self
    }

    /// Sets a message about what the tool is doing.
    pub fn saying(mut self, message: impl Into<Arc<str>>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Returns the steps done.
    pub fn current(&self) -> f64 {
        self.current
    }

    /// Returns the total number of steps, where known.
    pub fn total(&self) -> Option<f64> {
        self.total
    }

    /// Returns the fraction that is done, between 0 and 1. On a call it never decreases.
    pub fn fraction(&self) -> Option<f64> {
        self.fraction
    }

    /// Returns what the tool is doing.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Cleans the message to one line.
    pub(crate) fn cleaned(mut self) -> Self {
        self.message = self.message.map(|message| clean_line(&message, 200).into());
        self
    }

    /// Returns this progress with a fraction that is at least that of `earlier`.
    pub(crate) fn after(mut self, earlier: &Progress) -> Self {
        self.fraction = match (self.fraction, earlier.fraction) {
            (Some(now), Some(before)) => Some(now.max(before)),
            (now, before) => now.or(before),
        };
        self
    }
}
