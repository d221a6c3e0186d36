//! The memory: what happened to every call, kept in SQLite, replayed, searched, counted, verified, undone.
//! It keeps and tells; it judges nothing, runs nothing and never holds up a call for longer than it says.
//!
//! - [`History`] is given to a journal as its store. A thread of its own writes, several records at once.
//! - [`Archive`] reads: sessions, calls, statistics, exports; it verifies and undoes.
//! - [`Settings`] say what is kept, how safely, and what happens when nothing can be.

mod archive;
mod chain;
mod export;
mod file;
mod form;
mod history;
mod import;
mod life;
mod line;
mod pen;
mod prune;
mod queue;
mod redact;
mod rows;
mod run;
mod schema;
mod settings;
mod stats;
mod trouble;
mod undo;
mod verify;
mod writer;

pub use archive::{Archive, CanUndo, Told};
pub use export::{ExportError, Extent};
pub use file::SetAside;
pub use form::{FormError, SessionEvent, SessionFacts, Speaker};
pub use history::History;
pub use import::Exported;
pub use line::{CallLine, Filter, QuestionLine, SessionLine};
pub use prune::{Pruned, forget, prune};
pub use redact::MASK;
pub use schema::tables;
pub use settings::{Durability, Keep, KeepUndo, OnFailure, Settings, Tell, Waiting};
pub use stats::{Group, Period, Spread, Stats};
pub use trouble::Trouble;
pub use undo::{Kept, UndoError, Undoing, Undone};
pub use verify::{Verified, VerifyError};
pub use writer::Health;
