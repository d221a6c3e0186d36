//! Answers that people chose to keep, in files that people can read.
//! A file is changed as a whole and under a lock; a broken one is left as it is.

use std::fmt;
use std::path::{Path, PathBuf};

use toml_edit::{ArrayOfTables, DocumentMut, Table};
use toolcall::text::clean_line;
use toolcall::{AnswerContext, Effect, Lifetime};

use super::guarded::{self, Owner};
use super::places::{UserDirs, digest, file_name, written};
use crate::error::PolicyError;
use crate::file;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;
use crate::text::fields;

/// The longest title in a comment, in characters.
const LONGEST_TITLE: usize = 200;

/// What a kept rule is called when somebody wants it gone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RememberedRuleId(String);

impl RememberedRuleId {
    /// The rule of this name.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    fn of(stance: RuleEffect, text: &str) -> Self {
        let whole = digest(format!("{} {text}", stance.as_str()).as_bytes());
        Self(whole[..8].to_owned())
    }
}

impl fmt::Display for RememberedRuleId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// One kept answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedRule {
    /// What it is called.
    pub id: RememberedRuleId,
    /// What was answered.
    pub effect: Effect,
    /// What it covers.
    pub text: String,
    /// Where it holds.
    pub lifetime: Lifetime,
    /// When and for which call it was kept, as the file says.
    pub comment: String,
    /// The file it is in.
    pub file: PathBuf,
}

/// A file of kept answers.
pub(super) struct RememberedRulesFile {
    path: PathBuf,
    /// What is said at its beginning.
    about: String,
}

impl RememberedRulesFile {
    /// The answers that hold everywhere.
    pub(super) fn everywhere(places: &UserDirs) -> Self {
        Self {
            path: places.kept().join("everywhere.toml"),
            about: "everywhere".to_owned(),
        }
    }

    /// The answers that hold in one project.
    pub(super) fn of_project(places: &UserDirs, project: &Path) -> Self {
        Self {
            path: places.kept().join(file_name(project, "toml")),
            about: format!("in {}", clean_line(&project.to_string_lossy(), 4096)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a rule, unless it is there.
    pub(super) fn add(
        &self,
        rule: &PolicyRule,
        occasion: &AnswerContext,
    ) -> Result<(), PolicyError> {
        let _held = self.lock()?;
        let mut text = self.text()?;
        let id = RememberedRuleId::of(rule.stance(), &rule.text());
        if self
            .rules(&text, Lifetime::Everywhere)?
            .iter()
            .any(|kept| kept.id == id)
        {
            return Ok(());
        }
        text += &block(rule, occasion);
        guarded::write(&self.path, &text)
    }

    pub(super) fn list(&self, lifetime: Lifetime) -> Result<Vec<RememberedRule>, PolicyError> {
        self.rules(&self.text()?, lifetime)
    }

    /// Takes rules out, with the comments above them. Says which were there.
    pub(super) fn forget(
        &self,
        ids: &[RememberedRuleId],
        lifetime: Lifetime,
    ) -> Result<Vec<RememberedRule>, PolicyError> {
        let _held = self.lock()?;
        let text = self.text()?;
        let mut rules = self.rules(&text, lifetime)?;
        rules.retain(|rule| ids.contains(&rule.id));
        if rules.is_empty() {
            return Ok(rules);
        }
        let mut document = self.document(&text)?;
        for stance in [RuleEffect::Allow, RuleEffect::Deny] {
            let key = stance.as_str();
            let Some(list) = document
                .get_mut(key)
                .and_then(|item| item.as_array_of_tables_mut())
            else {
                continue;
            };
            retain(list, |table| !is_one_of(table, stance, &rules));
            if list.is_empty() {
                document.remove(key);
            }
        }
        let left = document.to_string();
        // What stands above the first rule goes with it.
        let heading = match left.starts_with(&self.heading()) {
            true => String::new(),
            false => self.heading(),
        };
        guarded::write(&self.path, &(heading + &left))?;
        Ok(rules)
    }

    fn lock(&self) -> Result<std::fs::File, PolicyError> {
        guarded::lock(self.path.parent().unwrap_or(&self.path))
    }

    fn text(&self) -> Result<String, PolicyError> {
        let text = guarded::read(&self.path, Owner::Person)?;
        Ok(text.unwrap_or_else(|| self.heading()))
    }

    fn heading(&self) -> String {
        let about = &self.about;
        format!(
            "# Answers that were kept and hold {about}.\n# `toolcall policy list` shows them, \
             `toolcall policy forget ID` takes one out.\n"
        )
    }

    fn rules(&self, text: &str, lifetime: Lifetime) -> Result<Vec<RememberedRule>, PolicyError> {
        // What does not hold as a policy is not taken for one here.
        file::parse(&self.path.display().to_string(), text, None)?;
        let document = self.document(text)?;
        let mut rules = Vec::new();
        for (stance, effect) in [
            (RuleEffect::Allow, Effect::Allow),
            (RuleEffect::Deny, Effect::Deny),
        ] {
            let list = document.get(stance.as_str());
            let list = list.and_then(|item| item.as_array_of_tables());
            for table in list.into_iter().flatten() {
                let text = rule_text(table);
                rules.push(RememberedRule {
                    id: RememberedRuleId::of(stance, &text),
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
                "mend the file, or take it away",
            )
        })
    }
}

/// A rule as it stands in a file, under when and for which call it was kept.
fn block(rule: &PolicyRule, occasion: &AnswerContext) -> String {
    let when = written(occasion.when);
    let title = clean_line(&occasion.title, LONGEST_TITLE);
    let session = clean_line(&occasion.session.to_string(), LONGEST_TITLE);
    let call = clean_line(&occasion.call.to_string(), LONGEST_TITLE);
    let stance = rule.stance().as_str();
    let fields = fields(&rule.body).join("\n");
    format!(
        "\n# Kept {when}, for \"{title}\" (call {call} of session {session})\n[[{stance}]]\n{fields}\n"
    )
}

/// The rule on one line, from the fields that we wrote.
fn rule_text(table: &Table) -> String {
    let fields = table.iter();
    let fields = fields.map(|(key, value)| format!("{key} = {}", value.to_string().trim()));
    fields.collect::<Vec<_>>().join(", ")
}

/// The lines right above the rule.
fn comment(table: &Table) -> String {
    let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str());
    let above = prefix.unwrap_or_default().rsplit("\n\n").next();
    let lines = above.unwrap_or_default().lines();
    let lines = lines.filter_map(|line| line.trim().strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn is_one_of(table: &Table, stance: RuleEffect, rules: &[RememberedRule]) -> bool {
    let id = RememberedRuleId::of(stance, &rule_text(table));
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
