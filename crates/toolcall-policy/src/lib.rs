//! The conscience: rules with examples, modes, protected paths, trust and kept answers.
//! Judging sees intents and config only; files are read and written by the rulebook alone.
//!
//! - [`Layer`] is one policy file, or the answers that were kept. A broken one is a [`PolicyError`].
//! - [`Rules`] is all layers together, an immutable snapshot that judges (`toolcall::Policy`).
//! - [`Rules::explain`] tells how a verdict came about, part by part.
//! - [`PolicyStore`] is the rulebook of a session (`toolcall::Rulebook`): files, trust and kept answers, always
//!   as they are now.
//! - [`replay`] judges recorded calls again.
//! - [`helpers_named`] finds what a repository makes `git` run.

mod argument_checks;
mod argument_paths;
mod command;
mod error;
mod evaluation;
mod example;
mod explain;
mod file;
mod finding;
mod fold;
mod git;
mod layer;
mod mode;
mod offers;
mod paths;
mod position;
mod programs;
mod protected;
mod reach;
pub mod replay;
mod rule;
mod rule_checks;
mod rule_effect;
mod rule_text;
mod rules;
mod run_index;
mod store;
mod tool_name;

pub use error::PolicyError;
pub use explain::{Explanation, Step};
pub use git::helpers_named;
pub use layer::{Layer, LayerSource, PolicyText, Trust};
pub use mode::Mode;
pub use rule::PolicyRule;
pub use rule_effect::RuleEffect;
pub use rules::{RuleContext, Rules};
pub use store::{
    Change, FileState, PolicyFile, PolicySources, PolicyStore, PolicyStoreConfig, Project,
    ProjectFile, RememberedRule, RememberedRuleId, TrustRecord, TrustStore, UserDirs, read_own,
};
