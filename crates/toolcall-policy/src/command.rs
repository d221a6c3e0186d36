//! Commands, heard part by part: what each program is, what its words name, which rule covers it.
//! A command that was not understood is never covered by a rule about programs.

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

/// How many programs behind one part are judged.
const MOST_PROGRAMS: usize = 256;

/// How many programs one look shows when it had to stop.
const FULL_LOOK: usize = 64;

/// How deep one look reaches: more programs than that may hide more.
const DEEP_LOOK: usize = 6;

/// A part and every program behind it.
pub(crate) struct UnwrappedPart {
    pub(crate) parts: Vec<Part>,
    /// Why these may not be all.
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
                // Tools state redirects as touches of their own; those are heard anyway.
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

    /// Rules that deny or ask, by words anywhere in the text and in the variables.
    fn word_rules(&self, command: &Command, seen: &[UnwrappedPart], report: FindingSink<'_>) {
        for rule in self.about(&self.rules.barriers) {
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

    /// The rule that allows this command to the letter. Variables may make it another command.
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

    /// A text that was not understood: a protected name in it is reason enough to ask.
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
                cause: Cause::Limit("the text is too long to be looked through"),
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

    /// The rule that covers the part with everything behind it, or why none does.
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

    /// The rule that covers one program, or why none does.
    pub(crate) fn covering_one(&self, part: &Part) -> Result<&'a PolicyRule, NoRuleReason> {
        if !self.context.contains(&part.cwd) {
            let why = format!("{} lies outside the roots", part.cwd.display());
            return Err(NoRuleReason::new(why, "run it in a root"));
        }
        let helpers = &self.rules.context.git_helpers;
        if let Some(helper) = helpers.first().filter(|_| part.argv[0] == "git") {
            let why = format!("the repository's `{helper}` makes `git` run a program");
            return Err(NoRuleReason::new(
                why,
                "take that out of the repository's configuration",
            ));
        }
        if part.argv[0] == "git" && self.has_repository_of_its_own(&part.cwd) {
            let why = "the folder has a repository of its own, whose settings nobody looked at";
            return Err(NoRuleReason::new(why, "work in that folder as a project"));
        }
        let mut reason = None;
        for (rule, length) in self.prefix_rules(&part.argv) {
            reason = self.beyond(part, length);
            if reason.is_none() {
                return Ok(rule);
            }
        }
        Err(reason.unwrap_or_else(|| no_rule(part)))
    }

    /// Whether the tool told of a repository between the folder and the root.
    fn has_repository_of_its_own(&self, folder: &Path) -> bool {
        self.intent.touches.iter().any(|touch| match touch {
            Touch::Reads(path) => repository(path).is_some_and(|around| {
                folder.starts_with(around) && !self.context.roots.iter().any(|root| root == around)
            }),
            Touch::Writes(_)
            | Touch::Deletes(_)
            | Touch::Moves { .. }
            | Touch::Runs(_)
            | Touch::Reaches(_)
            | Touch::Unknown => false,
        })
    }

    /// The rules whose words a program begins with, and how many these are.
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

    /// What a program does beyond the words that a rule names.
    fn beyond(&self, part: &Part, length: usize) -> Option<NoRuleReason> {
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
        let why = format!("{} lies outside the roots", path.display());
        Some(NoRuleReason::new(
            why,
            "allow the path with `read` or `write`",
        ))
    }
}

/// The folder around a repository, if a path is one or its configuration.
fn repository(path: &Path) -> Option<&Path> {
    let git = if path.ends_with(".git/config") {
        path.parent()?
    } else {
        path
    };
    git.ends_with(".git").then(|| git.parent())?
}

/// Nothing covers a program; the rule that would is named where people should write one.
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

/// Whether there is something to run in every part.
fn has_programs(parts: &[Part]) -> bool {
    !parts.is_empty() && parts.iter().all(|part| !part.argv.is_empty())
}

/// The text in which denied words are searched: the command and its variables.
fn searched(command: &Command, seen: &[UnwrappedPart]) -> String {
    let mut text = command.text.to_string();
    for (name, value) in &command.env {
        text += &format!("\n{name}={value}");
    }
    // Where every program is known, a pattern is for the program and comes to no word but itself.
    let is_clear = !seen.is_empty() && seen.iter().all(|seen| seen.unclear.is_none());
    if is_clear && command.env.is_empty() {
        text.replace(['*', '?', '['], " ")
    } else {
        text
    }
}

/// A text without its quotes and with single spaces, so that it is found in a text that wraps it.
fn bare(text: &str) -> String {
    let plain = text.replace(['\'', '"', '\\'], "");
    let words: Vec<_> = plain.split_whitespace().collect();
    words.join(" ")
}

/// A part and every program behind it, looked through until the end.
pub(crate) fn unwrap_all(part: &Part) -> UnwrappedPart {
    let found = unwrapped(part);
    let mut seen = UnwrappedPart {
        exceeds_limit: found.parts.len() >= FULL_LOOK,
        parts: found.parts,
        unclear: found.unclear,
    };
    if seen.parts.len() <= DEEP_LOOK {
        return seen;
    }
    // One look ends somewhere; what it ended at may hide more.
    let mut at = 1;
    while let Some(part) = seen.parts.get(at) {
        if seen.parts.len() > MOST_PROGRAMS {
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
