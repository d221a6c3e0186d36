//! How far a tool is, as a value that never runs backwards on a call.
//! It is told by tools and shown by readers; nothing is decided by it.

use std::sync::Arc;

use crate::text::clean_line;

/// How far a tool is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    current: f64,
    total: Option<f64>,
    fraction: Option<f64>,
    message: Option<Arc<str>>,
}

impl Progress {
    /// This many steps are done. What is not a finite number counts as none.
    pub fn at(current: f64) -> Self {
        Self {
            current: if current.is_finite() { current } else { 0.0 },
            ..Self::default()
        }
    }

    /// Out of this many; a total that is not a positive number counts as not known.
    pub fn of(mut self, total: f64) -> Self {
        self.total = (total.is_finite() && total > 0.0).then_some(total);
        self.fraction = self
            .total
            .map(|total| (self.current / total).clamp(0.0, 1.0));
        self
    }

    /// This part of the whole is done, where that is known better than by steps. What is not a
    /// finite number counts as not known.
    pub fn part(mut self, fraction: f64) -> Self {
        let is_known = fraction.is_finite();
        self.fraction = is_known.then(|| fraction.clamp(0.0, 1.0)).or(self.fraction);
        self
    }

    /// And it is doing this.
    pub fn saying(mut self, message: impl Into<Arc<str>>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Steps done.
    pub fn current(&self) -> f64 {
        self.current
    }

    /// Steps in all, where known.
    pub fn total(&self) -> Option<f64> {
        self.total
    }

    /// The part that is done, between 0 and 1. On a call it never runs backwards.
    pub fn fraction(&self) -> Option<f64> {
        self.fraction
    }

    /// What the tool is doing.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// With a message of one clean line.
    pub(crate) fn cleaned(mut self) -> Self {
        self.message = self.message.map(|message| clean_line(&message, 200).into());
        self
    }

    /// This progress after `earlier`: its fraction is at least that one's.
    pub(crate) fn after(mut self, earlier: &Progress) -> Self {
        self.fraction = match (self.fraction, earlier.fraction) {
            (Some(now), Some(before)) => Some(now.max(before)),
            (now, before) => now.or(before),
        };
        self
    }
}
