//! Parses policy files: TOML to rules, with the position of any error.
//! It is strict: an unknown key, an empty list or a rule that can never match is an error.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolcall::text::clean_line;

use crate::error::{PolicyError, RuleError};
use crate::example;
use crate::mode::Mode;
use crate::paths::Pattern;
use crate::position::Position;
use crate::reach::ReachPattern;
use crate::rule::{PolicyRule, RuleBody};
use crate::rule_checks::check;
use crate::rule_effect::RuleEffect;
use crate::rule_text::text;
use crate::run_index::parse_run;
use crate::tool_name::ToolName;

/// The size in bytes above which a file is rejected.
const MAX_FILE_LEN: usize = 4 * 1024 * 1024;

/// The maximum length of a rule's text in its name, in characters.
const MAX_NAME_LEN: usize = 120;

const TOP_KEYS: [&str; 4] = ["mode", "allow", "ask", "deny"];

const RULE_KEYS: [&str; 12] = [
    "run",
    "exactly",
    "in",
    "read",
    "write",
    "delete",
    "reach",
    "tool",
    "definition",
    "because",
    "matches",
    "refuses",
];

type Entry<'t, 'i> = (
    &'t Spanned<std::borrow::Cow<'i, str>>,
    &'t Spanned<DeValue<'i>>,
);

/// Returns the mode and the rules of a file.
pub(crate) fn parse(
    file: &str,
    text: &str,
    home: Option<&Path>,
) -> Result<(Option<Mode>, Vec<PolicyRule>), PolicyError> {
    let reader = Reader {
        file: file.into(),
        text,
        home,
    };
    let table = reader.table()?;
    let (mut mode, mut rules) = (None, Vec::new());
    for (key, value) in in_order(table.get_ref()) {
        match key.get_ref().as_ref() {
            "mode" => mode = Some(reader.mode(value)?),
            "allow" => reader.rules(RuleEffect::Allow, value, &mut rules)?,
            "ask" => reader.rules(RuleEffect::Ask, value, &mut rules)?,
            "deny" => reader.rules(RuleEffect::Deny, value, &mut rules)?,
            other => return Err(reader.error_at(key.span(), unknown_key(other, &TOP_KEYS))),
        }
    }
    Ok((mode, rules))
}

impl PolicyRule {
    /// Parses a rule from the text under which it was offered.
    pub fn from_text(
        text: &str,
        effect: RuleEffect,
        home: Option<&Path>,
    ) -> Result<PolicyRule, PolicyError> {
        let document = format!("rule = {{ {text} }}\n");
        let reader = Reader {
            file: "a remembered rule".into(),
            text: &document,
            home,
        };
        let table = reader.table()?;
        let only = in_order(table.get_ref());
        match only.as_slice() {
            [(_, value)] => reader.rule(effect, value),
            _ => Err(reader.error_at(
                0..0,
                RuleError::new("more than one rule", "remember them one by one"),
            )),
        }
    }

    /// The text from which [`PolicyRule::from_text`] makes the same rule.
    pub fn text(&self) -> String {
        text(&self.body)
    }
}

struct Reader<'a> {
    file: Arc<str>,
    text: &'a str,
    home: Option<&'a Path>,
}

impl<'a> Reader<'a> {
    fn table(&self) -> Result<Spanned<DeTable<'a>>, PolicyError> {
        if self.text.len() > MAX_FILE_LEN {
            let error = RuleError::new("a policy that is too long", "keep it under 4 MiB");
            return Err(self.error_at(0..0, error));
        }
        DeTable::parse(self.text).map_err(|error| {
            let problem = format!("not TOML: {}", error.message().replace('\n', ", "));
            let rule_error = RuleError::new(
                problem,
                "correct the syntax; rules are `[[allow]]` and lines such as `run = \"git status\"`",
            );
            self.error_at(error.span().unwrap_or(0..0), rule_error)
        })
    }

    fn error_at(&self, span: Range<usize>, error: RuleError) -> PolicyError {
        error.at(&self.file, Position::of(self.text, span.start))
    }

    fn mode(&self, value: &Spanned<DeValue<'_>>) -> Result<Mode, PolicyError> {
        let text = self.string(value)?;
        Mode::named(text).ok_or_else(|| self.error_at(value.span(), unknown_mode(text)))
    }

    fn rules(
        &self,
        effect: RuleEffect,
        value: &Spanned<DeValue<'_>>,
        rules: &mut Vec<PolicyRule>,
    ) -> Result<(), PolicyError> {
        let name = effect.as_str();
        let advice = format!("write `[[{name}]]` and the rule below it");
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.error_at(
                value.span(),
                RuleError::new(format!("`{name}` is not a list of rules"), advice),
            ));
        };
        if list.is_empty() {
            return Err(self.error_at(
                value.span(),
                RuleError::new(format!("`{name}` is an empty list"), advice),
            ));
        }
        for rule in list.iter() {
            rules.push(self.rule(effect, rule)?);
        }
        Ok(())
    }

    fn rule(
        &self,
        effect: RuleEffect,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<PolicyRule, PolicyError> {
        let DeValue::Table(table) = value.get_ref() else {
            let error = RuleError::new(
                "a rule that is not a table",
                "write keys such as `run = \"git status\"`",
            );
            return Err(self.error_at(value.span(), error));
        };
        let mut body = RuleBody::default();
        let mut examples = Vec::new();
        for (key, value) in in_order(table) {
            self.field(effect, key, value, &mut body, &mut examples)?;
        }
        check(effect, &body).map_err(|error| self.error_at(value.span(), error))?;
        let line = Position::of(self.text, value.span().start).line;
        let shown = clean_line(&text(&body), MAX_NAME_LEN);
        let rule = PolicyRule {
            effect,
            name: format!("{} {shown} ({}:{line})", effect.as_str(), self.file).into(),
            body,
        };
        self.examples(&rule, &examples)?;
        Ok(rule)
    }

    fn field<'t, 'i>(
        &self,
        effect: RuleEffect,
        key: &Spanned<std::borrow::Cow<'i, str>>,
        value: &'t Spanned<DeValue<'i>>,
        body: &mut RuleBody,
        examples: &mut Vec<Example<'t>>,
    ) -> Result<(), PolicyError> {
        match key.get_ref().as_ref() {
            "run" => {
                for (text, span) in self.strings(value)? {
                    let words =
                        parse_run(text, effect).map_err(|error| self.error_at(span, error))?;
                    body.runs_anything |= words.is_empty();
                    body.runs.extend((!words.is_empty()).then_some(words));
                }
            }
            "exactly" => body.exactly = self.each(value, whole_command)?,
            "in" => body.directory = Some(self.directory(value)?),
            "read" => body.reads = self.patterns(value)?,
            "write" => body.writes = self.patterns(value)?,
            "delete" => body.deletes = self.patterns(value)?,
            "reach" => body.reaches = self.each(value, ReachPattern::parse)?,
            "tool" => {
                let name = ToolName::parse(self.string(value)?);
                body.tool = Some(name.map_err(|error| self.error_at(value.span(), error))?);
            }
            "definition" => body.definition = Some(self.string(value)?.to_owned()),
            "because" => body.because = Some(self.string(value)?.into()),
            "matches" => examples.extend(self.expected(value, Expected::Match)?),
            "refuses" => examples.extend(self.expected(value, Expected::Refuse)?),
            other => return Err(self.error_at(key.span(), unknown_key(other, &RULE_KEYS))),
        }
        Ok(())
    }

    fn patterns(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<Pattern>, PolicyError> {
        self.each(value, |text| Pattern::parse(text, self.home))
    }

    fn directory(&self, value: &Spanned<DeValue<'_>>) -> Result<std::path::PathBuf, PolicyError> {
        let text = self.string(value)?;
        if Path::new(text).is_absolute() {
            Ok(text.into())
        } else {
            let error = RuleError::new(
                format!("`{text}` is not an absolute path"),
                "write the directory from `/`",
            );
            Err(self.error_at(value.span(), error))
        }
    }

    fn each<T>(
        &self,
        value: &Spanned<DeValue<'_>>,
        parse: impl Fn(&str) -> Result<T, RuleError>,
    ) -> Result<Vec<T>, PolicyError> {
        let texts = self.strings(value)?.into_iter();
        texts
            .map(|(text, span)| parse(text).map_err(|error| self.error_at(span, error)))
            .collect()
    }

    fn expected<'t>(
        &self,
        value: &'t Spanned<DeValue<'_>>,
        expected: Expected,
    ) -> Result<Vec<Example<'t>>, PolicyError> {
        let texts = self.strings(value)?.into_iter();
        Ok(texts
            .map(|(text, span)| Example {
                text,
                span,
                expected,
            })
            .collect())
    }

    fn examples(&self, rule: &PolicyRule, examples: &[Example<'_>]) -> Result<(), PolicyError> {
        for example in examples {
            let text = example.text;
            let matches = example::matches(rule, text, self.home);
            let error = match (example.expected, matches) {
                (Expected::Match, true) | (Expected::Refuse, false) => continue,
                (Expected::Match, false) => RuleError::new(
                    format!("the rule does not match its example `{text}`"),
                    "widen the rule, or take the example out of `matches`",
                ),
                (Expected::Refuse, true) => RuleError::new(
                    format!("the rule matches `{text}`, which it should refuse"),
                    "narrow the rule, or take the example out of `refuses`",
                ),
            };
            return Err(self.error_at(example.span.clone(), error));
        }
        Ok(())
    }

    fn string<'t>(&self, value: &'t Spanned<DeValue<'_>>) -> Result<&'t str, PolicyError> {
        value.get_ref().as_str().ok_or_else(|| {
            let problem = format!("a string is wanted, not {}", value.get_ref().type_str());
            self.error_at(value.span(), RuleError::new(problem, "put it into quotes"))
        })
    }

    /// Returns one string, or a list of strings that is not empty.
    fn strings<'t>(
        &self,
        value: &'t Spanned<DeValue<'_>>,
    ) -> Result<Vec<(&'t str, Range<usize>)>, PolicyError> {
        let DeValue::Array(list) = value.get_ref() else {
            return Ok(vec![(self.string(value)?, value.span())]);
        };
        if list.is_empty() {
            let error = RuleError::new(
                "an empty list matches nothing",
                "name something, or take the key out",
            );
            return Err(self.error_at(value.span(), error));
        }
        let strings = list
            .iter()
            .map(|item| Ok((self.string(item)?, item.span())));
        strings.collect()
    }
}

/// An example of a rule, and whether the rule must match it.
struct Example<'t> {
    text: &'t str,
    span: Range<usize>,
    expected: Expected,
}

#[derive(Clone, Copy)]
enum Expected {
    Match,
    Refuse,
}

fn whole_command(text: &str) -> Result<String, RuleError> {
    let is_empty = text
        .chars()
        .all(|c| c.is_whitespace() || "'\"\\".contains(c));
    if is_empty {
        Err(RuleError::new(
            "an empty command",
            "write the command to the letter",
        ))
    } else {
        Ok(text.to_owned())
    }
}

/// Returns the entries of a table in the order of the file.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn unknown_key(key: &str, known: &[&str]) -> RuleError {
    RuleError::new(format!("there is no key `{key}`"), nearest(key, known))
}

/// Returns the error for an unknown mode.
pub(crate) fn unknown_mode(name: &str) -> RuleError {
    let names = Mode::ALL.map(Mode::as_str);
    RuleError::new(format!("there is no mode `{name}`"), nearest(name, &names))
}

fn nearest(text: &str, known: &[&str]) -> String {
    let close = known
        .iter()
        .map(|name| (strsim::jaro_winkler(text, name), name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match close {
        Some((near, name)) if near > 0.75 => format!("write `{name}`"),
        Some(_) | None => format!("write one of `{}`", known.join("`, `")),
    }
}
