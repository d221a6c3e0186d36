//! Errors for events that are out of place.
//! It says what happened; callers decide whether that is a bug or a finding.

use thiserror::Error;

use crate::ids::QuestionId;

/// An event was out of place. It changed nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Irregularity {
    /// An event came after the ending.
    #[error("`{event}` came after the call had ended")]
    AfterEnding {
        /// The event's name.
        event: &'static str,
    },
    /// The call is not open: it was never announced, or it has ended.
    #[error("`{event}` came for a call that is not open")]
    NotOpen {
        /// The event's name.
        event: &'static str,
    },
    /// The call was announced twice.
    #[error("the call was announced twice")]
    AnnouncedTwice,
    /// The input was already complete.
    #[error("`{event}` came after the input was complete")]
    InputComplete {
        /// The event's name.
        event: &'static str,
    },
    /// The call was already prepared, asked about or decided.
    #[error("prepared too late: the call was decided, asked about or prepared already")]
    PreparedLate,
    /// A question was asked twice.
    #[error("question `{0:?}` was asked twice")]
    AskedTwice(QuestionId),
    /// A question came after the decision and before the start.
    #[error("asked after it was decided")]
    AskedLate,
    /// An answer came without its question.
    #[error("question `{0:?}` was answered but never asked")]
    NeverAsked(QuestionId),
    /// A question was answered twice.
    #[error("question `{0:?}` was answered twice")]
    AnsweredTwice(QuestionId),
    /// The call was decided twice.
    #[error("the call was decided twice")]
    DecidedTwice,
    /// A decision named no question while one was open.
    #[error("decided past an open question")]
    QuestionOpen,
    /// The call started without a decision.
    #[error("started without a decision")]
    StartedUndecided,
    /// The call started although it was denied.
    #[error("started although it was refused")]
    StartedRefused,
    /// The call started twice.
    #[error("started twice")]
    StartedTwice,
    /// The event needs a running call.
    #[error("`{event}` came while the call was not running")]
    NotRunning {
        /// The event's name.
        event: &'static str,
    },
    /// The call was resumed without being paused.
    #[error("resumed although it was not paused")]
    NotHeld,
    /// The call completed without having started.
    #[error("completed without having started")]
    CompletedUnstarted,
}
