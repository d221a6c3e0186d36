//! Evaluates commands part by part: which program runs, what its arguments name, which rule covers it.
//! A rule about programs never covers a command that was not understood.

use std::path::Path;
use std::sync::Arc;

use toolcall::{Access, Command, Part, Reading, Target, Touch};
use toolcall_shell::{MAX_TEXT_LEN, Words, quoted, touches, unwrapped};

use crate::argument_paths::paths_leading_away;
use crate::evaluation::{Evaluation, FindingSink, by_rule};
use crate::finding::{Cause, FileAction, Finding, NoRuleReason, Subject};
use crate::mode::ActionClass;
use crate::programs::{
    OfferPrefix, WordUse, first_hazard, is_never_offered, offered_words, only_reads, path_words,
    word_use,
};
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;

/// The limit on the programs that one part may run.
const MAX_PROGRAMS: usize = 256;

/// The number of programs at which one call of [`unwrapped`] stops.
const UNWRAP_LIMIT: usize = 64;

/// The depth at which one call of [`unwrapped`] stops: more programs than that may wrap further ones.
const UNWRAP_DEPTH: usize = 6;

/// A part and every program that it would run.
pub(crate) struct UnwrappedPart {
    pub(crate) parts: Vec<Part>,
    /// Why the list may be incomplete, if so.
    pub(crate) unclear: Option<Arc<str>>,
    exceeds_limit: bool,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn command(&self, command: &Command, report: FindingSink<'_>) {
        let parts = match &command.reading {
            Reading::Understood(parts) if has_programs(parts) => parts.as_slice(),
            Reading::Understood(_) | Reading::Unclear(_) => &[],
        };
        let seen: Vec<UnwrappedPart> = parts.iter().map(unwrap_all).collect();
        self.word_rules(command, &seen, report);
        let exact = self.exact_rule(command);
        match &command.reading {
            Reading::Understood(parts) if has_programs(parts) => {
                for seen in &seen {
                    self.part(command, seen, exact, report);
                }
                // Redirects that the tool already states as touches are evaluated as such.
                let is_stated = |touch: &Touch| self.intent.touches.contains(touch);
                for touch in touches(&command.reading) {
                    if !is_stated(&touch) {
                        self.redirect(&touch, report);
                    }
                }
            }
            Reading::Understood(_) => {
                self.unclear(command, "a part without a program", exact, report)
            }
            Reading::Unclear(why) => self.unclear(command, why, exact, report),
        }
    }

    /// Reports the rules that deny or ask about words anywhere in the text or its variables.
    fn word_rules(&self, command: &Command, seen: &[UnwrappedPart], report: FindingSink<'_>) {
        for rule in self.about(&self.rules.restricted_commands) {
            let whole = bare(&command.text);
            let mut texts = rule.body.exactly.iter();
            if texts.any(|text| whole.contains(&bare(text))) {
                report(by_rule(Subject::Text(&command.text), rule));
            }
        }
        let sets = [RuleEffect::Deny, RuleEffect::Ask].map(|effect| self.rules.anywhere(effect));
        if sets.iter().all(|set| set.is_empty()) {
            return;
        }
        let text = searched(command, seen);
        let words = Words::of(&text);
        for set in sets {
            for rule in self.about(&set.find(&words)) {
                report(by_rule(Subject::Text(&command.text), rule));
            }
        }
    }

    /// Returns the rule that allows exactly this command. Variables may change what it does, so it must have
    /// none.
    fn exact_rule(&self, command: &Command) -> Option<&'a PolicyRule> {
        let allows =
            |rule: &&PolicyRule| rule.effect == RuleEffect::Allow && rule.is_exactly(command);
        let mut rules = self
            .about(self.rules.exactly(&command.text))
            .chain(self.extra());
        rules.find(allows).filter(|_| command.env.is_empty())
    }

    fn redirect(&self, touch: &Touch, report: FindingSink<'_>) {
        match touch {
            Touch::Reads(path) => self.file(FileAction::Read, path, report),
            Touch::Writes(path) => self.file(FileAction::Write, path, report),
            Touch::Deletes(_)
            | Touch::Moves { .. }
            | Touch::Runs(_)
            | Touch::Reaches(_)
            | Touch::Unknown => {}
        }
    }

    /// Evaluates a text that was not understood. A protected name in it is always asked about.
    fn unclear(
        &self,
        command: &Command,
        why: &str,
        exact: Option<&'a PolicyRule>,
        report: FindingSink<'_>,
    ) {
        let subject = || Subject::Text(&command.text);
        let whole = Part::new(vec![command.text.to_string()], &command.cwd);
        if command.text.len() > MAX_TEXT_LEN {
            report(Finding {
                subject: subject(),
                effect: RuleEffect::Ask,
                cause: Cause::Limit("the text is too long to be searched"),
            })
        } else {
            self.text(&whole, &command.text, report)
        }
        match exact {
            Some(rule) => report(self.covered(subject(), ActionClass::Command, rule)),
            None => {
                let reason = NoRuleReason::new(format!("it has {why}"), "write it in plain words");
                report(self.uncovered(subject(), ActionClass::Command, Some(reason)));
            }
        }
    }

    fn part(
        &self,
        command: &Command,
        seen: &UnwrappedPart,
        exact: Option<&'a PolicyRule>,
        report: FindingSink<'_>,
    ) {
        let part = &seen.parts[0];
        if seen.exceeds_limit {
            report(Finding {
                subject: Subject::Part(part),
                effect: RuleEffect::Deny,
                cause: Cause::Limit("it runs more programs through others than can be judged"),
            });
        }
        for inner in &seen.parts {
            self.words(inner, seen.parts.len() > 1, report);
        }
        for inner in &seen.parts[1..] {
            self.inner_redirects(inner, report);
        }
        if seen.unclear.is_some() && seen.parts.len() > 1 {
            self.text(part, &quoted(part.argv.iter().map(String::as_str)), report);
        }
        let reads = |inner: &Part| only_reads(&inner.argv);
        let class = if seen.unclear.is_none() && seen.parts.iter().all(reads) {
            ActionClass::Inspect
        } else {
            ActionClass::Command
        };
        match exact.map_or_else(|| self.covering(command, seen), Ok) {
            Ok(rule) => report(self.covered(Subject::Part(part), class, rule)),
            Err(reason) => report(self.uncovered(Subject::Part(part), class, Some(reason))),
        }
    }

    fn inner_redirects(&self, inner: &Part, report: FindingSink<'_>) {
        for redirect in &inner.redirects {
            if let Target::File { path, access } = &redirect.target {
                match access {
                    Access::Read => self.file(FileAction::Read, path, report),
                    Access::Replace | Access::Append => self.file(FileAction::Write, path, report),
                }
            }
        }
    }

    /// Returns the rule that covers the part and every program that it runs, or why none does.
    fn covering(
        &self,
        command: &Command,
        seen: &UnwrappedPart,
    ) -> Result<&'a PolicyRule, NoRuleReason> {
        if let Some((name, _)) = command.env.first_key_value() {
            let why = format!("it has the variable `{name}` in its environment");
            return Err(NoRuleReason::new(why, "leave variables out"));
        }
        if let Some(why) = &seen.unclear {
            return Err(NoRuleReason::new(&**why, "run the program by itself"));
        }
        let rules = seen.parts.iter().map(|inner| self.covering_one(inner));
        let mut rules = rules.collect::<Result<Vec<_>, _>>()?;
        let nothing = || NoRuleReason::new("it runs nothing", "write a command");
        rules.pop().ok_or_else(nothing)
    }

    /// Returns the rule that covers one program, or why none does.
    pub(crate) fn covering_one(&self, part: &Part) -> Result<&'a PolicyRule, NoRuleReason> {
        if !self.context.contains(&part.cwd) {
            let why = format!("{} lies outside the workspace", part.cwd.display());
            return Err(NoRuleReason::new(why, "run it inside the workspace"));
        }
        let helpers = &self.rules.context.git_helpers;
        if let Some(helper) = helpers.first().filter(|_| part.argv[0] == "git") {
            let why = format!("the repository's `{helper}` makes `git` run a program");
            return Err(NoRuleReason::new(
                why,
                "remove it from the repository's configuration",
            ));
        }
        if part.argv[0] == "git" && self.has_own_repository(&part.cwd) {
            let why =
                "the directory has a repository of its own, whose configuration was not checked";
            return Err(NoRuleReason::new(why, "open that directory as a project"));
        }
        let mut reason = None;
        for (rule, length) in self.prefix_rules(&part.argv) {
            reason = self.uncovered_words(part, length);
            if reason.is_none() {
                return Ok(rule);
            }
        }
        Err(reason.unwrap_or_else(|| no_rule(part)))
    }

    /// Whether the tool touches a repository between the directory and the root.
    fn has_own_repository(&self, directory: &Path) -> bool {
        self.intent.touches.iter().any(|touch| match touch {
            Touch::Reads(path) => repository(path).is_some_and(|around| {
                directory.starts_with(around)
                    && !self.context.roots.iter().any(|root| root == around)
            }),
            Touch::Writes(_)
            | Touch::Deletes(_)
            | Touch::Moves { .. }
            | Touch::Runs(_)
            | Touch::Reaches(_)
            | Touch::Unknown => false,
        })
    }

    /// Returns the rules whose words the program begins with, each with the number of its words.
    fn prefix_rules(&self, argv: &[String]) -> Vec<(&'a PolicyRule, usize)> {
        let found = self.rules.prefixes.find(argv);
        let found = found.map(|(rule, length)| (&self.rules.rules[rule], length));
        let extra = self.extra.into_iter().flat_map(|extra| {
            let runs = extra
                .body
                .runs
                .iter()
                .filter(|words| argv.starts_with(words));
            runs.map(move |words| (extra, words.len()))
        });
        found
            .chain(extra)
            .filter(|(rule, _)| rule.is_about(self.intent))
            .collect()
    }

    /// Returns why a rule does not cover the program's words after those that it names, if it does not.
    fn uncovered_words(&self, part: &Part, length: usize) -> Option<NoRuleReason> {
        if let Some(hazard) = first_hazard(&part.argv, length) {
            let why = format!("{}, and the rule does not name it", hazard.why);
            return Some(NoRuleReason::new(why, "name it in the rule's `run`"));
        }
        let action = match word_use(&part.argv) {
            WordUse::Text => return None,
            WordUse::Reads => FileAction::Read,
            WordUse::Anything => FileAction::Write,
        };
        let words = path_words(&part.argv).into_iter();
        let away = words
            .filter(|(at, _)| *at >= length)
            .flat_map(|(_, word)| paths_leading_away(part, word));
        let mut outside = away.filter(|path| {
            !self.context.contains(path) && self.allowing_path(action, path).is_none()
        });
        let path = outside.next()?;
        let why = format!("{} lies outside the workspace", path.display());
        Some(NoRuleReason::new(
            why,
            "allow the path with `read` or `write`",
        ))
    }
}

/// Returns the directory that contains a repository, if the path is a `.git` or its configuration.
fn repository(path: &Path) -> Option<&Path> {
    let git = if path.ends_with(".git/config") {
        path.parent()?
    } else {
        path
    };
    git.ends_with(".git").then(|| git.parent())?
}

/// Returns that no rule allows a program, and which rule would.
fn no_rule(part: &Part) -> NoRuleReason {
    let why = format!("no rule allows `{}`", part.argv[0]);
    match offered_words(&part.argv) {
        OfferPrefix::Words(length) if !is_never_offered(&part.argv[0]) => {
            let words = quoted(part.argv[..length].iter().map(String::as_str));
            let change = format!("add an `[[allow]]` rule with `run = \"{words}\"`");
            NoRuleReason::new(why, change)
        }
        OfferPrefix::Words(_) | OfferPrefix::Whole => {
            NoRuleReason::new(why, "add an `[[allow]]` rule with `run`")
        }
    }
}

/// Whether every part has a program.
fn has_programs(parts: &[Part]) -> bool {
    !parts.is_empty() && parts.iter().all(|part| !part.argv.is_empty())
}

/// Returns the text to search for denied words: the command and its variables.
fn searched(command: &Command, seen: &[UnwrappedPart]) -> String {
    let mut text = command.text.to_string();
    for (name, value) in &command.env {
        text += &format!("\n{name}={value}");
    }
    // If every program is known, no shell expands patterns, so they stand only for themselves.
    let is_clear = !seen.is_empty() && seen.iter().all(|seen| seen.unclear.is_none());
    if is_clear && command.env.is_empty() {
        text.replace(['*', '?', '['], " ")
    } else {
        text
    }
}

/// Returns a text without quotes and with single spaces, so that it is found in a text that wraps it.
fn bare(text: &str) -> String {
    let plain = text.replace(['\'', '"', '\\'], "");
    let words: Vec<_> = plain.split_whitespace().collect();
    words.join(" ")
}

/// Returns a part and every program that it would run, unwrapped completely.
pub(crate) fn unwrap_all(part: &Part) -> UnwrappedPart {
    let found = unwrapped(part);
    let mut seen = UnwrappedPart {
        exceeds_limit: found.parts.len() >= UNWRAP_LIMIT,
        parts: found.parts,
        unclear: found.unclear,
    };
    if seen.parts.len() <= UNWRAP_DEPTH {
        return seen;
    }
    // One call of `unwrapped` stops at a limit; the programs at the end may wrap further ones.
    let mut at = 1;
    while let Some(part) = seen.parts.get(at) {
        if seen.parts.len() > MAX_PROGRAMS {
            seen.exceeds_limit = true;
            return seen;
        }
        for inner in unwrapped(part).parts.into_iter().skip(1) {
            if !seen.parts.contains(&inner) {
                seen.parts.push(inner);
            }
        }
        at += 1;
    }
    seen
}
