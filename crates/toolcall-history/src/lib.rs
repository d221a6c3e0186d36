//! Records what happens to every tool call in one SQLite file, and reads it back.
//! It records and reports; it decides nothing and runs nothing.
//!
//! A [`History`] is the store of a journal: its writer thread commits queued records in batches and completes
//! their receipts. An [`Archive`] is the same file opened for reading, also while others write.
//!
//! ```
//! use std::sync::Arc;
//! use toolcall::{Journal, SessionId};
//! use toolcall_history::{CallFilter, History, HistoryConfig, SessionEvent};
//!
//! # fn main() -> Result<(), toolcall_history::HistoryError> {
//! # let dir = toolcall_testkit::dir::TestDir::create();
//! # let path = dir.at("history.db");
//! let history = Arc::new(History::open(path, HistoryConfig::default())?);
//! let session = SessionId::new("session-1");
//! let journal = Journal::new(session.clone()).with_store(history.clone());
//! // An engine now writes the events of its calls into the journal. Session events are recorded directly:
//! drop(history.record(&session, SessionEvent::TurnBegan));
//!
//! let archive = history.archive()?;
//! assert_eq!(archive.sessions()?[0].id, session);
//! assert!(archive.calls(&CallFilter::default())?.is_empty());
//! # drop(journal);
//! # Ok(())
//! # }
//! ```
//!
//! # Write
//!
//! - [`History`] opens the file for writing; [`HistoryConfig`] says what it stores, how durably, and whether calls
//!   may run when it cannot store anything ([`OnFailure`]).
//! - [`SessionEvent`] is what happens to a session beside its calls: turns, messages, plans.
//! - Secrets are redacted before anything is written; [`MASK`] replaces them.
//! - [`prune()`] and [`forget`] delete whole sessions and overwrite their bytes.
//!
//! # Read
//!
//! - [`Archive`] lists sessions and calls ([`CallFilter`]) and returns the records of one call ([`CallHistory`]).
//! - [`Archive::stats`] counts calls by tool, kind, agent and day ([`Stats`]).
//! - [`Archive::export`] writes JSON lines; [`ExportLine`] reads them back.
//! - [`Archive::verify`] checks the hash chain of every session ([`VerifyError`]).
//! - [`Archive::undo_content`] returns what a call overwrote; [`UndoContent::restore`] writes it back.

mod archive;
mod call_summary;
mod chain;
mod error;
mod export;
mod file;
mod history;
mod import;
mod prune;
mod query;
mod queue;
mod record_writer;
mod redact;
mod rows;
mod run;
mod schema;
mod settings;
mod stats;
mod stored;
mod undo;
mod verify;
mod writer;

pub use archive::{Archive, CallHistory, UndoState};
pub use error::HistoryError;
pub use export::{ExportError, ExportScope};
pub use file::DamagedFile;
pub use history::History;
pub use import::ExportLine;
pub use prune::{Pruned, forget, prune};
pub use query::{CallFilter, CallRow, QuestionRow, SessionRow};
pub use redact::MASK;
pub use schema::tables;
pub use settings::{
    Durability, HistoryConfig, KeepContent, KeepUndo, OnFailure, OnStatusChange, QueueLimits,
};
pub use stats::{Percentiles, Stats, StatsGroup, StatsPeriod};
pub use stored::{DecodeError, SessionEvent, SessionFacts, Speaker};
pub use undo::{UndoContent, UndoError, UndoPlan, UndoResult};
pub use verify::{VerifyError, VerifyReport};
pub use writer::Health;
