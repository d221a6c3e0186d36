//! One rule: its effect, what it covers, and why.
//! It only matches; the evaluation decides what a match leads to.

use std::path::PathBuf;
use std::sync::Arc;

use toolcall::{Command, Intent};

use crate::paths::Pattern;
use crate::reach::ReachPattern;
use crate::rule_effect::RuleEffect;
use crate::tool_name::ToolName;

/// A rule of a policy. It covers whatever one of its keys matches; `tool` narrows it to one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    pub(crate) effect: RuleEffect,
    pub(crate) body: RuleBody,
    /// The name under which decisions by this rule are recorded.
    pub(crate) name: Arc<str>,
}

/// What a rule covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleBody {
    /// The first words of programs.
    pub(crate) runs: Vec<Vec<String>>,
    /// Whether it covers every command (`run = "*"`).
    pub(crate) runs_anything: bool,
    /// The exact texts of whole commands.
    pub(crate) exactly: Vec<String>,
    /// The directory in which those commands run.
    pub(crate) directory: Option<PathBuf>,
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
    /// Returns its effect.
    pub fn effect(&self) -> RuleEffect {
        self.effect
    }

    /// Returns the name under which decisions by this rule are recorded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it applies to calls of this intent's tool.
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

    /// Whether it names only a tool.
    pub(crate) fn is_about_tool_alone(&self) -> bool {
        let body = &self.body;
        body.tool.is_some() && !body.names_touches()
    }

    /// Whether it allows everything that a tool does: it names the tool and its definition.
    pub(crate) fn grants_tool(&self) -> bool {
        self.effect == RuleEffect::Allow
            && self.body.tool.is_some()
            && self.body.definition.is_some()
    }

    /// Whether it names exactly this command.
    pub(crate) fn is_exactly(&self, command: &Command) -> bool {
        let is_directory = self
            .body
            .directory
            .as_ref()
            .is_none_or(|directory| *directory == command.cwd);
        is_directory && self.body.exactly.iter().any(|text| **text == *command.text)
    }
}

impl RuleBody {
    /// Whether it names anything but a tool.
    pub(crate) fn names_touches(&self) -> bool {
        let lists = [&self.reads, &self.writes, &self.deletes];
        self.runs_anything
            || !self.runs.is_empty()
            || !self.exactly.is_empty()
            || !self.reaches.is_empty()
            || lists.iter().any(|list| !list.is_empty())
    }
}
