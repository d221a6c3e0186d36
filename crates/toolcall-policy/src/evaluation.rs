//! Evaluates an intent: matches each of its touches against protected paths, rules and the mode.
//! It reports findings to a sink; commands are evaluated in `command.rs`.

use std::path::Path;

use toolcall::{Intent, SessionContext, Touch};

use crate::finding::{Cause, FileAction, Finding, NoRuleReason, Subject};
use crate::fold::normalize;
use crate::mode::{ActionClass, Mode};
use crate::paths::PathSet;
use crate::protected::{PathAccess, Protection, protection};
use crate::reach::ReachTarget;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;
use crate::rules::Snapshot;

/// An intent, and everything that its verdict depends on.
pub(crate) struct Evaluation<'a> {
    pub(crate) rules: &'a Snapshot,
    pub(crate) mode: Mode,
    pub(crate) intent: &'a Intent,
    pub(crate) context: &'a SessionContext,
    /// An allow rule that is tried in addition to the others.
    pub(crate) extra: Option<&'a PolicyRule>,
}

/// Receives the findings of an evaluation.
pub(crate) type FindingSink<'l> = &'l mut dyn FnMut(Finding<'_>);

impl<'a> Evaluation<'a> {
    /// Reports every finding about the intent.
    pub(crate) fn evaluate(&self, report: FindingSink<'_>) {
        if let Some(error) = &self.rules.broken {
            return report(Finding {
                subject: Subject::Call,
                effect: RuleEffect::Deny,
                cause: Cause::Broken(error),
            });
        }
        for rule in self.about(&self.rules.tools) {
            report(by_rule(Subject::Call, rule));
        }
        if self.intent.touches.is_empty() {
            report(self.uncovered(Subject::Call, ActionClass::Nothing, None));
        }
        for touch in &self.intent.touches {
            self.touch(touch, report);
        }
    }

    fn touch(&self, touch: &Touch, report: FindingSink<'_>) {
        match touch {
            Touch::Reads(path) => self.file(FileAction::Read, path, report),
            Touch::Writes(path) => self.file(FileAction::Write, path, report),
            Touch::Deletes(path) => self.file(FileAction::Delete, path, report),
            Touch::Moves { from, to } => {
                // A moved file can be read at its new path.
                self.file(FileAction::Read, from, report);
                self.file(FileAction::Delete, from, report);
                self.file(FileAction::Write, to, report);
            }
            Touch::Runs(command) => self.command(command, report),
            Touch::Reaches(target) => self.reach(target, report),
            Touch::Unknown => self.tool(Subject::Call, ActionClass::Unknown, report),
        }
    }

    /// Evaluates a touched file, whether the tool or a command's redirect touches it.
    pub(crate) fn file(&self, action: FileAction, path: &Path, report: FindingSink<'_>) {
        if let Some(protection) = self.protection(action, path) {
            report(Finding {
                subject: Subject::File(action, path),
                effect: protection.effect,
                cause: Cause::Protected(protection),
            });
        }
        self.path_rules(action, path, &mut |rule| {
            report(by_rule(Subject::File(action, path), rule));
        });
        if action == FileAction::Delete {
            self.rules_beneath(
                &[FileAction::Delete, FileAction::Write],
                path,
                &mut |rule| {
                    report(by_rule(Subject::File(action, path), rule));
                },
            );
        }
        let class = self.action_class(action, path);
        match self.allowing_path(action, path) {
            Some(rule) => report(self.covered(Subject::File(action, path), class, rule)),
            None => report(self.uncovered(Subject::File(action, path), class, None)),
        }
    }

    /// Reports the rules that deny or ask about a path. A deletion also matches the rules about writing.
    pub(crate) fn path_rules(
        &self,
        action: FileAction,
        path: &Path,
        report: &mut dyn FnMut(&'a PolicyRule),
    ) {
        let actions: &[FileAction] = match action {
            FileAction::Read => &[FileAction::Read],
            FileAction::Write => &[FileAction::Write],
            FileAction::Delete => &[FileAction::Delete, FileAction::Write],
        };
        for effect in [RuleEffect::Deny, RuleEffect::Ask] {
            for found in actions {
                let set = self.rules.paths(effect, *found);
                self.about(&set.find(path, self.context))
                    .for_each(&mut *report);
            }
        }
    }

    /// Reports the rules that deny or ask about something beneath a directory that is used as a whole.
    pub(crate) fn rules_beneath(
        &self,
        actions: &[FileAction],
        path: &Path,
        report: &mut dyn FnMut(&'a PolicyRule),
    ) {
        for effect in [RuleEffect::Deny, RuleEffect::Ask] {
            for action in actions {
                let found = self
                    .rules
                    .paths(effect, *action)
                    .beneath(path, self.context);
                self.about(&found).for_each(&mut *report);
            }
        }
    }

    /// Returns what protects a path. A root is protected, because it contains protected files.
    fn protection(&self, action: FileAction, path: &Path) -> Option<Protection> {
        let access = match action {
            FileAction::Read => PathAccess::Read,
            FileAction::Write => PathAccess::Change,
            FileAction::Delete => PathAccess::Remove,
        };
        let found = protection(
            path,
            access,
            &self.rules.context.own_files,
            &self.context.roots,
        );
        let is_root = || {
            let path = normalize(path);
            self.context
                .roots
                .iter()
                .any(|root| root.starts_with(&path))
        };
        found.or_else(|| match action {
            FileAction::Delete if is_root() => Some(Protection {
                effect: RuleEffect::Deny,
                name: "the root of a session",
            }),
            FileAction::Write if is_root() => Some(Protection {
                effect: RuleEffect::Ask,
                name: "the root of a session",
            }),
            FileAction::Read | FileAction::Write | FileAction::Delete => None,
        })
    }

    pub(crate) fn allowing_path(&self, action: FileAction, path: &Path) -> Option<&'a PolicyRule> {
        let found = self
            .rules
            .paths(RuleEffect::Allow, action)
            .find(path, self.context);
        self.about(&found).next().or_else(|| {
            let extra = self.extra.filter(|extra| extra.is_about(self.intent))?;
            let patterns = match action {
                FileAction::Read => &extra.body.reads,
                FileAction::Write => &extra.body.writes,
                FileAction::Delete => &extra.body.deletes,
            };
            let patterns: Vec<_> = patterns.iter().map(|pattern| (pattern, 0)).collect();
            let set = PathSet::new(RuleEffect::Allow, &patterns).ok()?;
            (!set.find(path, self.context).is_empty()).then_some(extra)
        })
    }

    fn action_class(&self, action: FileAction, path: &Path) -> ActionClass {
        match (action, self.context.contains(path)) {
            (FileAction::Read, true) => ActionClass::ReadInside,
            (FileAction::Read, false) => ActionClass::ReadOutside,
            (FileAction::Write, true) => ActionClass::WriteInside,
            (FileAction::Write, false) => ActionClass::WriteOutside,
            (FileAction::Delete, _) => ActionClass::Delete,
        }
    }

    fn reach(&self, target: &str, report: FindingSink<'_>) {
        self.reach_rules(target, &mut |rule| {
            report(by_rule(Subject::Reach(target), rule))
        });
        let parsed = ReachTarget::parse(target);
        if let ReachTarget::Mode(name) = &parsed {
            return report(self.switch(target, name));
        }
        let covers = |rule: &&PolicyRule| {
            let mut reaches = rule.body.reaches.iter();
            reaches.any(|reach| reach.covers(&parsed, RuleEffect::Allow))
        };
        let allowing = self
            .about(self.rules.reaches(RuleEffect::Allow))
            .chain(self.extra());
        match allowing.into_iter().find(covers) {
            Some(rule) => report(self.covered(Subject::Reach(target), ActionClass::Reach, rule)),
            None if parsed.is_mcp() => {
                self.tool(Subject::Reach(target), ActionClass::Unknown, report)
            }
            None => report(self.uncovered(Subject::Reach(target), ActionClass::Reach, None)),
        }
    }

    /// Evaluates a switch to another mode. No rule can allow a looser mode.
    fn switch<'f>(&self, target: &'f str, name: &'f str) -> Finding<'f> {
        let subject = Subject::Reach(target);
        let Some(wanted) = Mode::named(name) else {
            return Finding {
                subject,
                effect: RuleEffect::Deny,
                cause: Cause::UnknownMode(name),
            };
        };
        let class = self.mode.switching_to(wanted);
        let reason = if class == ActionClass::Loosen && self.mode != Mode::DenyAll {
            Some(NoRuleReason::new(
                "no rule can allow it",
                "choose the mode yourself",
            ))
        } else {
            None
        };
        self.uncovered(subject, class, reason)
    }

    /// Reports the rules that deny or ask about a target.
    pub(crate) fn reach_rules(&self, target: &str, report: &mut dyn FnMut(&'a PolicyRule)) {
        let parsed = ReachTarget::parse(target);
        for effect in [RuleEffect::Deny, RuleEffect::Ask] {
            let covers = |rule: &&PolicyRule| {
                let mut reaches = rule.body.reaches.iter();
                reaches.any(|reach| reach.covers(&parsed, effect))
            };
            let rules = self.about(self.rules.reaches(effect));
            rules.filter(covers).for_each(&mut *report);
        }
    }

    /// Evaluates what only the tool itself knows: only a rule for the tool's current definition covers it.
    fn tool(&self, subject: Subject<'_>, class: ActionClass, report: FindingSink<'_>) {
        let grants = |rule: &&PolicyRule| rule.grants_tool();
        let mut allowing = self.about(&self.rules.grants).chain(self.extra());
        match allowing.find(grants) {
            Some(rule) => report(self.covered(subject, class, rule)),
            None => report(self.uncovered(subject, class, None)),
        }
    }

    /// Returns those of the rules that are about this intent's tool.
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

    /// Returns the finding for an action that a rule allows, unless the mode denies it regardless.
    pub(crate) fn covered<'f>(
        &self,
        subject: Subject<'f>,
        class: ActionClass,
        rule: &'f PolicyRule,
    ) -> Finding<'f> {
        let minimum = self.mode.minimum_effect(class);
        let mode = self.mode;
        Finding {
            subject,
            effect: minimum,
            cause: match minimum {
                RuleEffect::Allow => Cause::Rule(rule),
                RuleEffect::Ask | RuleEffect::Deny => Cause::Mode {
                    mode,
                    class,
                    reason: None,
                },
            },
        }
    }

    /// Returns the finding for an action that no rule allows, so that the mode decides.
    pub(crate) fn uncovered<'f>(
        &self,
        subject: Subject<'f>,
        class: ActionClass,
        reason: Option<NoRuleReason>,
    ) -> Finding<'f> {
        let mode = self.mode;
        Finding {
            subject,
            effect: mode.default_effect(class),
            cause: Cause::Mode {
                mode,
                class,
                reason,
            },
        }
    }
}

/// Returns the finding of a rule that asks or denies.
pub(crate) fn by_rule<'f>(subject: Subject<'f>, rule: &'f PolicyRule) -> Finding<'f> {
    Finding {
        subject,
        effect: rule.effect,
        cause: Cause::Rule(rule),
    }
}
