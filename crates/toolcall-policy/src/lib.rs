//! The conscience: rules with examples, modes, protected paths, trust and kept answers.
//! Judging sees intents and settings only; files are read and written by the rulebook alone.
//!
//! - [`Layer`] is one policy file, or the answers that were kept. A broken one is a [`PolicyError`].
//! - [`Rules`] is all layers together, an immutable snapshot that judges (`toolcall::Policy`).
//! - [`Rules::explain`] tells how a verdict came about, part by part.
//! - [`Book`] is the rulebook of a session (`toolcall::Rulebook`): files, trust and kept answers, always
//!   as they are now.
//! - [`replay`] judges recorded calls again.
//! - [`helpers_named`] finds what a repository makes `git` run.

mod book;
mod checks;
mod command;
mod error;
mod example;
mod explain;
mod file;
mod finding;
mod fold;
mod git;
mod hearing;
mod layer;
mod mode;
mod names;
mod offers;
mod paths;
mod position;
mod programs;
mod protected;
mod reach;
pub mod replay;
mod rule;
mod rules;
mod runs;
mod stance;
mod text;
mod wordpaths;
mod words;

pub use book::{
    Book, BookSettings, Change, FileState, KeptId, KeptRule, Places, PolicyFile, Project,
    ProjectFile, Sources, TrustRecord, Trusts, read_own,
};
pub use error::PolicyError;
pub use explain::{Explanation, Step};
pub use git::helpers_named;
pub use layer::{Layer, Scope, Source, Trust};
pub use mode::Mode;
pub use rule::PolicyRule;
pub use rules::{Facts, Rules};
pub use stance::Stance;
