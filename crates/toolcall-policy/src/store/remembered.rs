//! Remembered rules: "always" answers, in TOML files that users can read and edit.
//! A file is replaced as a whole under a lock; a broken one is never changed.

use std::fmt;
use std::path::{Path, PathBuf};

use toml_edit::{ArrayOfTables, DocumentMut, Table};
use toolcall::text::clean_line;
use toolcall::{AnswerContext, Effect, Lifetime};

use super::secure_files::{self, Owner};
use super::user_dirs::{UserDirs, digest, file_name, format_timestamp};
use crate::error::PolicyError;
use crate::file;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;
use crate::rule_text::fields;

/// The maximum length of a title in a comment, in characters.
const MAX_TITLE_LEN: usize = 200;

/// The id of a remembered rule, with which `toolcall policy forget` removes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RememberedRuleId(String);

impl RememberedRuleId {
    /// Wraps an id as `toolcall policy list` shows it.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    fn of(effect: RuleEffect, text: &str) -> Self {
        let whole = digest(format!("{} {text}", effect.as_str()).as_bytes());
        Self(whole[..8].to_owned())
    }
}

impl fmt::Display for RememberedRuleId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A rule that an "always" answer remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedRule {
    /// Its id.
    pub id: RememberedRuleId,
    /// Whether it allows or denies.
    pub effect: Effect,
    /// The rule on one line.
    pub text: String,
    /// Where it holds.
    pub lifetime: Lifetime,
    /// When and for which call it was remembered, as the file's comment says.
    pub comment: String,
    /// The file it is in.
    pub file: PathBuf,
}

/// A file of remembered rules.
pub(super) struct RememberedRulesFile {
    path: PathBuf,
    /// Where its rules hold, for the heading.
    holds: String,
}

impl RememberedRulesFile {
    /// Returns the file of the rules that hold everywhere.
    pub(super) fn everywhere(places: &UserDirs) -> Self {
        Self {
            path: places.remembered().join("everywhere.toml"),
            holds: "everywhere".to_owned(),
        }
    }

    /// Returns the file of the rules that hold in one project.
    pub(super) fn of_project(places: &UserDirs, project: &Path) -> Self {
        Self {
            path: places.remembered().join(file_name(project, "toml")),
            holds: format!("in {}", clean_line(&project.to_string_lossy(), 4096)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a rule, unless it is already there.
    pub(super) fn add(
        &self,
        rule: &PolicyRule,
        occasion: &AnswerContext,
    ) -> Result<(), PolicyError> {
        let _lock = self.lock()?;
        let mut text = self.text()?;
        let id = RememberedRuleId::of(rule.effect, &rule.text());
        if self
            .rules(&text, Lifetime::Everywhere)?
            .iter()
            .any(|remembered| remembered.id == id)
        {
            return Ok(());
        }
        text += &block(rule, occasion);
        secure_files::write(&self.path, &text)
    }

    pub(super) fn list(&self, lifetime: Lifetime) -> Result<Vec<RememberedRule>, PolicyError> {
        self.rules(&self.text()?, lifetime)
    }

    /// Removes rules with the comments above them, and returns those that were there.
    pub(super) fn forget(
        &self,
        ids: &[RememberedRuleId],
        lifetime: Lifetime,
    ) -> Result<Vec<RememberedRule>, PolicyError> {
        let _lock = self.lock()?;
        let text = self.text()?;
        let mut rules = self.rules(&text, lifetime)?;
        rules.retain(|rule| ids.contains(&rule.id));
        if rules.is_empty() {
            return Ok(rules);
        }
        let mut document = self.document(&text)?;
        for effect in [RuleEffect::Allow, RuleEffect::Deny] {
            let key = effect.as_str();
            let Some(list) = document
                .get_mut(key)
                .and_then(|item| item.as_array_of_tables_mut())
            else {
                continue;
            };
            retain(list, |table| !is_one_of(table, effect, &rules));
            if list.is_empty() {
                document.remove(key);
            }
        }
        let left = document.to_string();
        // The heading is removed together with the first rule.
        let heading = if left.starts_with(&self.heading()) {
            String::new()
        } else {
            self.heading()
        };
        secure_files::write(&self.path, &(heading + &left))?;
        Ok(rules)
    }

    fn lock(&self) -> Result<std::fs::File, PolicyError> {
        secure_files::lock(self.path.parent().unwrap_or(&self.path))
    }

    fn text(&self) -> Result<String, PolicyError> {
        let text = secure_files::read(&self.path, Owner::User)?;
        Ok(text.unwrap_or_else(|| self.heading()))
    }

    fn heading(&self) -> String {
        let holds = &self.holds;
        format!(
            "# Answers that were kept and hold {holds}.\n# `toolcall policy list` shows them, \
             `toolcall policy forget ID` takes one out.\n"
        )
    }

    fn rules(&self, text: &str, lifetime: Lifetime) -> Result<Vec<RememberedRule>, PolicyError> {
        // A file that is not a valid policy is an error here, too.
        file::parse(&self.path.display().to_string(), text, None)?;
        let document = self.document(text)?;
        let mut rules = Vec::new();
        for effect in [Effect::Allow, Effect::Deny] {
            let rule_effect = RuleEffect::from(effect);
            let list = document.get(rule_effect.as_str());
            let list = list.and_then(|item| item.as_array_of_tables());
            for table in list.into_iter().flatten() {
                let text = rule_text(table);
                rules.push(RememberedRule {
                    id: RememberedRuleId::of(rule_effect, &text),
                    effect,
                    text,
                    lifetime,
                    comment: comment(table),
                    file: self.path.clone(),
                });
            }
        }
        Ok(rules)
    }

    fn document(&self, text: &str) -> Result<DocumentMut, PolicyError> {
        text.parse().map_err(|error: toml_edit::TomlError| {
            PolicyError::of_file(
                &self.path,
                error.message(),
                "correct the file, or remove it",
            )
        })
    }
}

/// Returns a rule as it is written to the file, under a comment about when and for which call it was remembered.
fn block(rule: &PolicyRule, occasion: &AnswerContext) -> String {
    let when = format_timestamp(occasion.when);
    let title = clean_line(&occasion.title, MAX_TITLE_LEN);
    let session = clean_line(&occasion.session.to_string(), MAX_TITLE_LEN);
    let call = clean_line(&occasion.call.to_string(), MAX_TITLE_LEN);
    let effect = rule.effect.as_str();
    let fields = fields(&rule.body).join("\n");
    format!(
        "\n# Kept {when}, for \"{title}\" (call {call} of session {session})\n[[{effect}]]\n{fields}\n"
    )
}

/// Returns the rule on one line, from the fields of its table.
fn rule_text(table: &Table) -> String {
    let fields = table.iter();
    let fields = fields.map(|(key, value)| format!("{key} = {}", value.to_string().trim()));
    fields.collect::<Vec<_>>().join(", ")
}

/// Returns the comment directly above a rule.
fn comment(table: &Table) -> String {
    let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str());
    let above = prefix.unwrap_or_default().rsplit("\n\n").next();
    let lines = above.unwrap_or_default().lines();
    let lines = lines.filter_map(|line| line.trim().strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn is_one_of(table: &Table, effect: RuleEffect, rules: &[RememberedRule]) -> bool {
    let id = RememberedRuleId::of(effect, &rule_text(table));
    rules.iter().any(|rule| rule.id == id)
}

fn retain(list: &mut ArrayOfTables, keep: impl Fn(&Table) -> bool) {
    let gone = (0..list.len()).rev();
    for at in gone {
        if !list.get(at).is_none_or(&keep) {
            list.remove(at);
        }
    }
}
