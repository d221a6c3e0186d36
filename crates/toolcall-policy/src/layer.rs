//! Layers of a policy: a file or the answers that were kept, with where it comes from.
//! It judges nothing; what an untrusted layer may not say is dropped when layers come together.

use std::path::Path;

use toolcall::{Effect, Rule};

use crate::error::PolicyError;
use crate::file;
use crate::mode::Mode;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;

/// Where a layer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerSource {
    /// The person's own file.
    User,
    /// A file of the project that is worked on.
    Project,
    /// The command line.
    Flags,
    /// Answers that a person chose to keep.
    Remembered,
}

/// Whether a person has trusted the content of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// It holds as it stands.
    Trusted,
    /// It only tightens: what it allows is left out.
    Untrusted,
}

/// The text of a policy file, and what there is to know about it.
#[derive(Clone, Copy, Debug)]
pub struct PolicyText<'a> {
    /// The name of the file, for messages.
    pub file: &'a str,
    /// What is in it.
    pub text: &'a str,
    /// Where it comes from.
    pub scope: LayerSource,
    /// Whether it may allow anything.
    pub trust: Trust,
    /// What `~` stands for.
    pub home: Option<&'a Path>,
}

/// One layer of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    pub(crate) scope: LayerSource,
    pub(crate) trust: Trust,
    pub(crate) mode: Option<Mode>,
    pub(crate) rules: Vec<PolicyRule>,
}

impl Layer {
    /// Reads a policy file. One thing wrong in it, and there is no layer.
    ///
    /// ```
    /// use toolcall_policy::{Layer, LayerSource, PolicyText, Trust};
    ///
    /// let source = PolicyText {
    ///     file: "policy.toml",
    ///     text: "[[allow]]\nrun = 'git status'\nmatches = ['git status -s']\n",
    ///     scope: LayerSource::User,
    ///     trust: Trust::Trusted,
    ///     home: None,
    /// };
    /// assert_eq!(Layer::parse(source).unwrap().rules().len(), 1);
    /// ```
    pub fn parse(source: PolicyText<'_>) -> Result<Self, PolicyError> {
        let (mode, rules) = file::parse(source.file, source.text, source.home)?;
        Ok(Self {
            scope: source.scope,
            trust: source.trust,
            mode,
            rules,
        })
    }

    /// A layer that says nothing but how much is done without asking.
    pub fn of_mode(scope: LayerSource, mode: Mode) -> Self {
        Self {
            scope,
            trust: Trust::Trusted,
            mode: Some(mode),
            rules: Vec::new(),
        }
    }

    /// The answers that a person chose to keep, as they were offered.
    pub fn remembered<'a>(
        answers: impl IntoIterator<Item = (&'a Rule, Effect)>,
        home: Option<&Path>,
    ) -> Result<Self, PolicyError> {
        let rules = answers
            .into_iter()
            .map(|(rule, effect)| PolicyRule::from_text(&rule.text, effect.into(), home));
        Ok(Self {
            scope: LayerSource::Remembered,
            trust: Trust::Trusted,
            mode: None,
            rules: rules.collect::<Result<_, _>>()?,
        })
    }

    /// Its rules.
    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// Its rules, without those that it may not say.
    pub(crate) fn effective(self) -> impl Iterator<Item = PolicyRule> {
        let is_trusted = self.trust == Trust::Trusted;
        let rules = self.rules.into_iter();
        rules.filter(move |rule| is_trusted || rule.effect != RuleEffect::Allow)
    }
}
