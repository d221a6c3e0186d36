//! What can be wrong with an event: it had no place where it came.
//! It names what happened; whether that is a bug or a finding is for others to say.

use thiserror::Error;

use crate::ids::QuestionId;

/// An event that had no place where it came. It changed nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Irregularity {
    /// Nothing may follow the end.
    #[error("`{event}` came after the call had ended")]
    AfterEnding {
        /// The event's name.
        event: &'static str,
    },
    /// The call is not open: it was never announced, or it is over and done.
    #[error("`{event}` came for a call that is not open")]
    NotOpen {
        /// The event's name.
        event: &'static str,
    },
    /// A call begins once.
    #[error("the call was announced twice")]
    AnnouncedTwice,
    /// The input was complete already.
    #[error("`{event}` came after the input was complete")]
    InputComplete {
        /// The event's name.
        event: &'static str,
    },
    /// The call was past the point of being prepared.
    #[error("prepared too late: the call was decided, asked about or prepared already")]
    PreparedLate,
    /// A question is asked once.
    #[error("question `{0:?}` was asked twice")]
    AskedTwice(QuestionId),
    /// Nobody asks about a call that was decided and has not started.
    #[error("asked after it was decided")]
    AskedLate,
    /// An answer without its question.
    #[error("question `{0:?}` was answered but never asked")]
    NeverAsked(QuestionId),
    /// A question is answered once.
    #[error("question `{0:?}` was answered twice")]
    AnsweredTwice(QuestionId),
    /// A call is decided once.
    #[error("the call was decided twice")]
    DecidedTwice,
    /// A decision that names no question while one is open.
    #[error("decided past an open question")]
    QuestionOpen,
    /// Nothing starts undecided.
    #[error("started without a decision")]
    StartedUndecided,
    /// What was refused does not start.
    #[error("started although it was refused")]
    StartedRefused,
    /// A call starts once.
    #[error("started twice")]
    StartedTwice,
    /// Only what runs can do that.
    #[error("`{event}` came while the call was not running")]
    NotRunning {
        /// The event's name.
        event: &'static str,
    },
    /// Only what is paused goes on.
    #[error("resumed although it was not paused")]
    NotHeld,
    /// Only what started can complete.
    #[error("completed without having started")]
    CompletedUnstarted,
}
