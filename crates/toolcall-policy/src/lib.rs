//! Policies for tool calls: rules with examples, modes, protected paths, trust and remembered answers.
//! Judging sees only intents and the session; only [`PolicyStore`] and its parts read and write files.
//!
//! A policy is a TOML file of rules. [`Rules`] judges calls by it:
//!
//! ```
//! use toolcall::{Intent, Kind, Policy, SessionContext, SessionId, Touch, Verdict};
//! use toolcall_policy::{Layer, LayerSource, PolicyText, RuleContext, Rules, Trust};
//!
//! let layer = Layer::parse(PolicyText {
//!     file: "policy.toml",
//!     text: "[[deny]]\nwrite = 'target'\n",
//!     scope: LayerSource::User,
//!     trust: Trust::Trusted,
//!     home: None,
//! })?;
//! let rules = Rules::new([layer], RuleContext::default())?;
//! let intent = Intent::new(Kind::Edit, "write a file").touching(Touch::Writes("/w/target/x".into()));
//! let verdict = rules.judge(&intent, &SessionContext::new(SessionId::new("s"), "/w"));
//! assert!(matches!(verdict, Verdict::Deny { .. }));
//! # Ok::<(), toolcall_policy::PolicyError>(())
//! ```
//!
//! - [`Layer`] is one policy file, or the remembered rules. A file with an error is a [`PolicyError`].
//! - [`Rules`] combines all layers: an immutable snapshot that judges calls (`toolcall::Policy`).
//!   [`Mode`] is its effect on what no rule covers.
//! - [`Rules::explain`] returns an [`Explanation`] of a verdict, part by part.
//! - [`PolicyStore`] holds the rules of a session (`toolcall::Rulebook`): it loads policy files, trust and
//!   remembered rules, and follows their changes. [`PolicySources`] lists the files that it reads.
//! - [`TrustStore`] records which files of a project the user trusts.
//! - [`replay`] judges recorded calls again.
//! - [`find_git_helpers`] finds the programs that a repository's configuration makes `git` run.

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
pub use explain::{Explanation, ExplanationStep};
pub use git::find_git_helpers;
pub use layer::{Layer, LayerSource, PolicyText, Trust};
pub use mode::Mode;
pub use rule::PolicyRule;
pub use rule_effect::RuleEffect;
pub use rules::{RuleContext, Rules};
pub use store::{
    FileState, PolicyFile, PolicySources, PolicyStore, PolicyStoreConfig, Project, ProjectFile,
    RememberedRule, RememberedRuleId, TrustChange, TrustRecord, TrustStore, UserDirs, read_own,
};
