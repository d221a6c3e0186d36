//! One layer of a policy: the rules of a file, or remembered rules, and where they come from.
//! It judges nothing; the allow rules of an untrusted layer are dropped when layers are combined.

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
    /// The user's own file.
    User,
    /// A file of the project.
    Project,
    /// The command line.
    Flags,
    /// Rules remembered from "always" answers.
    Remembered,
}

/// Whether the user has trusted the content of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// All of its rules hold.
    Trusted,
    /// Its allow rules are ignored, so it can only tighten.
    Untrusted,
}

/// The text of a policy file and its origin.
#[derive(Clone, Copy, Debug)]
pub struct PolicyText<'a> {
    /// The name of the file, for messages.
    pub file: &'a str,
    /// The content of the file.
    pub text: &'a str,
    /// Which layer it belongs to.
    pub scope: LayerSource,
    /// Whether its allow rules hold.
    pub trust: Trust,
    /// The home directory, which `~` stands for.
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
    /// Parses a policy file. Any error in it rejects the whole layer.
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

    /// Returns a layer that sets only the mode.
    pub fn of_mode(scope: LayerSource, mode: Mode) -> Self {
        Self {
            scope,
            trust: Trust::Trusted,
            mode: Some(mode),
            rules: Vec::new(),
        }
    }

    /// Returns a layer of remembered rules, from the texts under which they were offered.
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

    /// Returns its rules.
    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// Returns its rules, without the allow rules if the layer is untrusted.
    pub(crate) fn effective(self) -> impl Iterator<Item = PolicyRule> {
        let is_trusted = self.trust == Trust::Trusted;
        let rules = self.rules.into_iter();
        rules.filter(move |rule| is_trusted || rule.effect != RuleEffect::Allow)
    }
}
