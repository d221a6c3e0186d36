//! Checks the arguments of commands for protected paths, and for paths and hosts that rules are about.
//! It finds things to deny or to ask about, never a reason to allow.

use toolcall::Part;
use toolcall_shell::{Words, unwrapped};

use crate::argument_paths::paths_in_word;
use crate::evaluation::{Evaluation, FindingSink, by_rule};
use crate::finding::{Cause, FileAction, Finding, Subject};
use crate::programs::{
    DirectoryUse, WordUse, directory_use, path_words, searches_here, takes_texts, word_use,
};
use crate::protected::{PathAccess, Protection, protection, word_protection};
use crate::reach::host_of_word;
use crate::rule_effect::RuleEffect;

impl Evaluation<'_> {
    /// Reports the protected paths in a program's arguments, and the rules about their paths and hosts.
    pub(crate) fn words(&self, part: &Part, is_nested: bool, report: FindingSink<'_>) {
        let access = match word_use(&part.argv) {
            WordUse::Text => return,
            WordUse::Reads => PathAccess::Read,
            WordUse::Anything => PathAccess::Change,
        };
        // The arguments of a wrapper belong to the wrapped program, which is evaluated itself.
        if is_nested && access == PathAccess::Change && unwrapped(part).parts.len() > 1 {
            return;
        }
        let own = &self.rules.context.own_files;
        if access == PathAccess::Change
            && let Some(found) = protection(&part.cwd, access, own, &self.context.roots)
        {
            report(protected_finding(Subject::Part(part), found));
        }
        for (_, word) in path_words(&part.argv) {
            if let Some(found) = self.word_protection(part, word, access) {
                report(protected_finding(Subject::Word(part, word), found));
            }
            self.word_paths(part, word, access, report);
            self.word_host(part, word, report);
        }
        if takes_texts(&part.argv) {
            let texts = part.argv.iter().skip(1);
            texts.for_each(|text| self.text(part, text, report));
        }
        if searches_here(&part.argv) {
            self.directory(part, ".", &[FileAction::Read], report);
        }
    }

    fn word_protection(&self, part: &Part, word: &str, access: PathAccess) -> Option<Protection> {
        let own = &self.rules.context.own_files;
        let by_name = word_protection(word, access);
        let paths = paths_in_word(part, word).into_iter();
        let by_path = paths.filter_map(|path| protection(&path, access, own, &self.context.roots));
        by_name
            .into_iter()
            .chain(by_path)
            .max_by_key(|found| found.effect)
    }

    fn word_paths(&self, part: &Part, word: &str, access: PathAccess, report: FindingSink<'_>) {
        if !self.rules.has_path_rules() {
            return;
        }
        let actions: &[FileAction] = match access {
            PathAccess::Read => &[FileAction::Read],
            PathAccess::Change | PathAccess::Remove => &[FileAction::Read, FileAction::Delete],
        };
        for path in paths_in_word(part, word) {
            for action in actions {
                self.path_rules(*action, &path, &mut |rule| {
                    report(by_rule(Subject::Word(part, word), rule));
                });
            }
        }
        match directory_use(&part.argv) {
            DirectoryUse::Searched => self.directory(part, word, &[FileAction::Read], report),
            DirectoryUse::Whole => self.directory(
                part,
                word,
                &[FileAction::Read, FileAction::Write, FileAction::Delete],
                report,
            ),
            DirectoryUse::Other => {}
        }
    }

    /// Asks about a directory that is used as a whole if a rule is about anything beneath it.
    fn directory(&self, part: &Part, word: &str, actions: &[FileAction], report: FindingSink<'_>) {
        for path in paths_in_word(part, word) {
            self.rules_beneath(actions, &path, &mut |rule| {
                report(Finding {
                    subject: Subject::Word(part, word),
                    effect: RuleEffect::Ask,
                    cause: Cause::Rule(rule),
                });
            });
        }
    }

    /// Reports the rules about the host of a URL in a word.
    fn word_host(&self, part: &Part, word: &str, report: FindingSink<'_>) {
        if let Some(host) = host_of_word(word) {
            self.reach_rules(&host, &mut |rule| {
                report(by_rule(Subject::Word(part, word), rule));
            });
        }
    }

    /// Evaluates a text that another program parses. A protected name in it is always asked about, and
    /// deny and ask rules apply to everything in it that may be a path or a URL.
    pub(crate) fn text(&self, part: &Part, text: &str, report: FindingSink<'_>) {
        if let Some(found) = mentioned_protection(text) {
            let asked = Protection {
                effect: RuleEffect::Ask,
                ..found
            };
            report(protected_finding(Subject::Part(part), asked));
        }
        for word in text.split(is_separator).filter(|word| !word.is_empty()) {
            self.word_paths(part, word, PathAccess::Change, report);
            self.word_host(part, word, report);
        }
    }
}

/// Whether a character separates words in most languages.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "'\"`;|&()<>$,{}[]".contains(c)
}

/// Returns the protection of the most protected name in a text.
fn mentioned_protection(text: &str) -> Option<Protection> {
    let words = Words::of(text);
    let found = words
        .iter()
        .filter_map(|word| word_protection(word, PathAccess::Change));
    found.max_by_key(|found| found.effect)
}

fn protected_finding<'f>(subject: Subject<'f>, protection: Protection) -> Finding<'f> {
    Finding {
        subject,
        effect: protection.effect,
        cause: Cause::Protected(protection),
    }
}
