//! One rule: what it says, about what, and why.
//! It matches; what becomes of a match is decided elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use toolcall::{Command, Intent};

use crate::paths::Pattern;
use crate::reach::ReachPattern;
use crate::rule_effect::RuleEffect;
use crate::tool_name::ToolName;

/// A rule of a policy. It covers whatever one of its keys matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    pub(crate) effect: RuleEffect,
    pub(crate) body: RuleBody,
    /// What decisions by this rule are called.
    pub(crate) name: Arc<str>,
}

/// What a rule is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleBody {
    /// The first words of programs.
    pub(crate) runs: Vec<Vec<String>>,
    /// Whether every command is meant (`run = "*"`).
    pub(crate) runs_anything: bool,
    /// Whole commands, to the letter.
    pub(crate) exactly: Vec<String>,
    /// The folder in which those commands run.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) reads: Vec<Pattern>,
    pub(crate) writes: Vec<Pattern>,
    pub(crate) deletes: Vec<Pattern>,
    pub(crate) reaches: Vec<ReachPattern>,
    pub(crate) tool: Option<ToolName>,
    /// The digest of the tool's definition.
    pub(crate) definition: Option<String>,
    pub(crate) because: Option<Arc<str>>,
}

impl PolicyRule {
    /// What it says.
    pub fn stance(&self) -> RuleEffect {
        self.effect
    }

    /// What decisions by this rule are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has anything to say about calls of this intent's tool.
    pub(crate) fn is_about(&self, intent: &Intent) -> bool {
        let tool = &intent.tool;
        let is_tool = self
            .body
            .tool
            .as_ref()
            .is_none_or(|name| name.names(tool, self.effect));
        let is_defined = self
            .body
            .definition
            .as_deref()
            .is_none_or(|digest| digest == &*tool.digest);
        is_tool && is_defined
    }

    /// Whether the tool is all that it names.
    pub(crate) fn is_about_tool_alone(&self) -> bool {
        let body = &self.body;
        body.tool.is_some() && !body.names_touches()
    }

    /// Whether it covers what the tool does unseen: it names the tool as it is defined now.
    pub(crate) fn grants_tool(&self) -> bool {
        self.effect == RuleEffect::Allow
            && self.body.tool.is_some()
            && self.body.definition.is_some()
    }

    /// Whether it means this command to the letter.
    pub(crate) fn is_exactly(&self, command: &Command) -> bool {
        let is_folder = self
            .body
            .folder
            .as_ref()
            .is_none_or(|folder| *folder == command.cwd);
        is_folder && self.body.exactly.iter().any(|text| **text == *command.text)
    }
}

impl RuleBody {
    /// Whether it names anything that calls touch.
    pub(crate) fn names_touches(&self) -> bool {
        let lists = [&self.reads, &self.writes, &self.deletes];
        self.runs_anything
            || !self.runs.is_empty()
            || !self.exactly.is_empty()
            || !self.reaches.is_empty()
            || lists.iter().any(|list| !list.is_empty())
    }
}
