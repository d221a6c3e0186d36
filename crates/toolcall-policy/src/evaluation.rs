//! One intent, heard: every touch of it against protected paths, rules and the mode.
//! It tells what it finds to whoever listens; commands are heard in a room of their own.

use std::path::Path;

use toolcall::{Intent, SessionContext, Touch};

use crate::finding::{Cause, Finding, Gap, Subject, Verb};
use crate::fold::normal;
use crate::mode::{ActionClass, Mode};
use crate::paths::PathSet;
use crate::protected::{Act, Protection, protection};
use crate::reach::Target;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;
use crate::rules::Snapshot;

/// An intent and everything that has a say in it.
pub(crate) struct Evaluation<'a> {
    pub(crate) rules: &'a Snapshot,
    pub(crate) mode: Mode,
    pub(crate) intent: &'a Intent,
    pub(crate) setting: &'a SessionContext,
    /// A rule that allows and is tried on top of the others.
    pub(crate) extra: Option<&'a PolicyRule>,
}

/// Who listens.
pub(crate) type FindingSink<'l> = &'l mut dyn FnMut(Finding<'_>);

impl<'a> Evaluation<'a> {
    /// Everything there is to find about the intent.
    pub(crate) fn hear(&self, tell: FindingSink<'_>) {
        if let Some(error) = &self.rules.broken {
            return tell(Finding {
                subject: Subject::Call,
                stance: RuleEffect::Deny,
                cause: Cause::Broken(error),
            });
        }
        for rule in self.about(&self.rules.tools) {
            tell(by_rule(Subject::Call, rule));
        }
        if self.intent.touches.is_empty() {
            tell(self.uncovered(Subject::Call, ActionClass::Nothing, None));
        }
        for touch in &self.intent.touches {
            self.touch(touch, tell);
        }
    }

    fn touch(&self, touch: &Touch, tell: FindingSink<'_>) {
        match touch {
            Touch::Reads(path) => self.file(Verb::Read, path, tell),
            Touch::Writes(path) => self.file(Verb::Write, path, tell),
            Touch::Deletes(path) => self.file(Verb::Delete, path, tell),
            Touch::Moves { from, to } => {
                // What is moved can be read at its new place.
                self.file(Verb::Read, from, tell);
                self.file(Verb::Delete, from, tell);
                self.file(Verb::Write, to, tell);
            }
            Touch::Runs(command) => self.command(command, tell),
            Touch::Reaches(target) => self.reach(target, tell),
            Touch::Unknown => self.tool(Subject::Call, ActionClass::Unknown, tell),
        }
    }

    /// A file that is touched, whoever does it.
    pub(crate) fn file(&self, verb: Verb, path: &Path, tell: FindingSink<'_>) {
        if let Some(protection) = self.protection(verb, path) {
            tell(Finding {
                subject: Subject::File(verb, path),
                stance: protection.stance,
                cause: Cause::Protected(protection),
            });
        }
        self.path_rules(verb, path, &mut |rule| {
            tell(by_rule(Subject::File(verb, path), rule));
        });
        if verb == Verb::Delete {
            self.rules_beneath(&[Verb::Delete, Verb::Write], path, &mut |rule| {
                tell(by_rule(Subject::File(verb, path), rule));
            });
        }
        let deed = self.deed(verb, path);
        match self.allowing_path(verb, path) {
            Some(rule) => tell(self.covered(Subject::File(verb, path), deed, rule)),
            None => tell(self.uncovered(Subject::File(verb, path), deed, None)),
        }
    }

    /// The rules that deny or ask about a path. What may not be written may not be deleted.
    pub(crate) fn path_rules(&self, verb: Verb, path: &Path, tell: &mut dyn FnMut(&'a PolicyRule)) {
        let verbs: &[Verb] = match verb {
            Verb::Read => &[Verb::Read],
            Verb::Write => &[Verb::Write],
            Verb::Delete => &[Verb::Delete, Verb::Write],
        };
        for stance in [RuleEffect::Deny, RuleEffect::Ask] {
            for found in verbs {
                let set = self.rules.paths(stance, *found);
                self.about(&set.find(path, self.setting))
                    .for_each(&mut *tell);
            }
        }
    }

    /// The rules that deny or ask about something beneath a folder that goes as a whole.
    pub(crate) fn rules_beneath(
        &self,
        verbs: &[Verb],
        path: &Path,
        tell: &mut dyn FnMut(&'a PolicyRule),
    ) {
        for stance in [RuleEffect::Deny, RuleEffect::Ask] {
            for verb in verbs {
                let found = self.rules.paths(stance, *verb).beneath(path, self.setting);
                self.about(&found).for_each(&mut *tell);
            }
        }
    }

    /// What protects a path; whole roots hold protected files, too.
    fn protection(&self, verb: Verb, path: &Path) -> Option<Protection> {
        let act = match verb {
            Verb::Read => Act::Read,
            Verb::Write => Act::Change,
            Verb::Delete => Act::Remove,
        };
        let found = protection(path, act, &self.rules.facts.own_files, &self.setting.roots);
        let is_root = || {
            let path = normal(path);
            self.setting
                .roots
                .iter()
                .any(|root| root.starts_with(&path))
        };
        found.or_else(|| match verb {
            Verb::Delete if is_root() => Some(Protection {
                stance: RuleEffect::Deny,
                name: "the root of a session",
            }),
            Verb::Write if is_root() => Some(Protection {
                stance: RuleEffect::Ask,
                name: "the root of a session",
            }),
            Verb::Read | Verb::Write | Verb::Delete => None,
        })
    }

    pub(crate) fn allowing_path(&self, verb: Verb, path: &Path) -> Option<&'a PolicyRule> {
        let found = self
            .rules
            .paths(RuleEffect::Allow, verb)
            .find(path, self.setting);
        self.about(&found).next().or_else(|| {
            let extra = self.extra.filter(|extra| extra.is_about(self.intent))?;
            let patterns = match verb {
                Verb::Read => &extra.body.reads,
                Verb::Write => &extra.body.writes,
                Verb::Delete => &extra.body.deletes,
            };
            let patterns: Vec<_> = patterns.iter().map(|pattern| (pattern, 0)).collect();
            let set = PathSet::new(RuleEffect::Allow, &patterns).ok()?;
            (!set.find(path, self.setting).is_empty()).then_some(extra)
        })
    }

    fn deed(&self, verb: Verb, path: &Path) -> ActionClass {
        match (verb, self.setting.contains(path)) {
            (Verb::Read, true) => ActionClass::ReadInside,
            (Verb::Read, false) => ActionClass::ReadOutside,
            (Verb::Write, true) => ActionClass::WriteInside,
            (Verb::Write, false) => ActionClass::WriteOutside,
            (Verb::Delete, _) => ActionClass::Delete,
        }
    }

    fn reach(&self, target: &str, tell: FindingSink<'_>) {
        self.reach_rules(target, &mut |rule| {
            tell(by_rule(Subject::Reach(target), rule))
        });
        let parsed = Target::parse(target);
        if let Target::Mode(name) = &parsed {
            return tell(self.switch(target, name));
        }
        let covers = |rule: &&PolicyRule| {
            let mut reaches = rule.body.reaches.iter();
            reaches.any(|reach| reach.covers(&parsed, RuleEffect::Allow))
        };
        let allowing = self
            .about(self.rules.reaches(RuleEffect::Allow))
            .chain(self.extra());
        match allowing.into_iter().find(covers) {
            Some(rule) => tell(self.covered(Subject::Reach(target), ActionClass::Reach, rule)),
            None if parsed.is_mcp() => {
                self.tool(Subject::Reach(target), ActionClass::Unknown, tell)
            }
            None => tell(self.uncovered(Subject::Reach(target), ActionClass::Reach, None)),
        }
    }

    /// A switch to another mode. No rule allows it: a looser mode would be a rule about rules.
    fn switch<'f>(&self, target: &'f str, name: &'f str) -> Finding<'f> {
        let subject = Subject::Reach(target);
        let Some(wanted) = Mode::named(name) else {
            return Finding {
                subject,
                stance: RuleEffect::Deny,
                cause: Cause::NoMode(name),
            };
        };
        let deed = self.mode.switching_to(wanted);
        let gap = match deed == ActionClass::Loosen && self.mode != Mode::DenyAll {
            true => Some(Gap::new(
                "that is always asked about",
                "choose the mode yourself",
            )),
            false => None,
        };
        self.uncovered(subject, deed, gap)
    }

    /// The rules that deny or ask about what is reached.
    pub(crate) fn reach_rules(&self, target: &str, tell: &mut dyn FnMut(&'a PolicyRule)) {
        let parsed = Target::parse(target);
        for stance in [RuleEffect::Deny, RuleEffect::Ask] {
            let covers = |rule: &&PolicyRule| {
                let mut reaches = rule.body.reaches.iter();
                reaches.any(|reach| reach.covers(&parsed, stance))
            };
            let rules = self.about(self.rules.reaches(stance));
            rules.filter(covers).for_each(&mut *tell);
        }
    }

    /// What nobody sees but the tool: only a rule for this tool as it is defined now covers it.
    fn tool(&self, subject: Subject<'_>, deed: ActionClass, tell: FindingSink<'_>) {
        let grants = |rule: &&PolicyRule| rule.grants_tool();
        let mut allowing = self.about(&self.rules.grants).chain(self.extra());
        match allowing.find(grants) {
            Some(rule) => tell(self.covered(subject, deed, rule)),
            None => tell(self.uncovered(subject, deed, None)),
        }
    }

    /// Those of the rules that are about this intent's tool.
    pub(crate) fn about<'s>(
        &'s self,
        rules: &'s [usize],
    ) -> impl Iterator<Item = &'a PolicyRule> + 's {
        let rules = rules.iter().map(|rule| &self.rules.rules[*rule]);
        rules.filter(|rule| rule.is_about(self.intent))
    }

    pub(crate) fn extra(&self) -> Option<&'a PolicyRule> {
        self.extra.filter(|extra| extra.is_about(self.intent))
    }

    /// A rule allows it, unless the mode holds against that.
    pub(crate) fn covered<'f>(
        &self,
        subject: Subject<'f>,
        deed: ActionClass,
        rule: &'f PolicyRule,
    ) -> Finding<'f> {
        let floor = self.mode.floor(deed);
        let mode = self.mode;
        Finding {
            subject,
            stance: floor,
            cause: match floor {
                RuleEffect::Allow => Cause::Rule(rule),
                RuleEffect::Ask | RuleEffect::Deny => Cause::Mode {
                    mode,
                    deed,
                    gap: Some(Gap::new("no rule lifts that", "choose another mode")),
                },
            },
        }
    }

    /// No rule allows it, so the mode decides.
    pub(crate) fn uncovered<'f>(
        &self,
        subject: Subject<'f>,
        deed: ActionClass,
        gap: Option<Gap>,
    ) -> Finding<'f> {
        let mode = self.mode;
        Finding {
            subject,
            stance: mode.stance(deed),
            cause: Cause::Mode { mode, deed, gap },
        }
    }
}

/// What a rule says that asks or denies.
pub(crate) fn by_rule<'f>(subject: Subject<'f>, rule: &'f PolicyRule) -> Finding<'f> {
    Finding {
        subject,
        stance: rule.stance,
        cause: Cause::Rule(rule),
    }
}
