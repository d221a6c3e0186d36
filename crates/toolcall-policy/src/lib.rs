//! The conscience: rules with examples, modes and protected paths, judged over what calls intend to do.
//! It sees intents and settings only; it opens no file, asks nobody and keeps nothing.
//!
//! - [`Layer`] is one policy file, or the answers that were kept. A broken one is a [`PolicyError`].
//! - [`Rules`] is all layers together, an immutable snapshot that judges (`toolcall::Policy`).
//! - [`Rules::explain`] tells how a verdict came about, part by part.
//! - [`helpers_named`] finds what a repository makes `git` run.

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
mod rule;
mod rules;
mod runs;
mod stance;
mod text;
mod wordpaths;
mod words;

pub use error::PolicyError;
pub use explain::{Explanation, Step};
pub use git::helpers_named;
pub use layer::{Layer, Scope, Source, Trust};
pub use mode::Mode;
pub use rule::PolicyRule;
pub use rules::{Facts, Rules};
pub use stance::Stance;
