//! The memory: what happened to every call, kept in SQLite, replayed, searched, counted, verified, undone.
//! It keeps and tells; it judges nothing, runs nothing and never holds up a call for longer than it says.
//!
//! - [`History`] is given to a journal as its store. A thread of its own writes, several records at once.
//! - [`Archive`] reads: sessions, calls, statistics, exports; it verifies and undoes.
//! - [`HistoryConfig`] say what is kept, how safely, and what happens when nothing can be.

mod archive;
mod call_summary;
mod chain;
mod error;
mod export;
mod file;
mod history;
mod import;
mod line;
mod prune;
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
pub use line::{CallRow, Filter, QuestionRow, SessionRow};
pub use prune::{Pruned, forget, prune};
pub use redact::MASK;
pub use schema::tables;
pub use settings::{
    Durability, HistoryConfig, KeepContent, KeepUndo, OnFailure, OnStatusChange, QueueLimits,
};
pub use stats::{Group, Percentiles, Period, Stats};
pub use stored::{DecodeError, SessionEvent, SessionFacts, Speaker};
pub use undo::{UndoContent, UndoError, UndoPlan, UndoResult};
pub use verify::{VerifyError, VerifyReport};
pub use writer::Health;
