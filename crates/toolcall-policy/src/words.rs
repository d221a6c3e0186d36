//! What the words of commands name: protected paths, paths and hosts that rules are about.
//! It finds things to deny or to ask about, never a reason to allow.

use toolcall::Part;
use toolcall_shell::{Words, unwrapped};

use crate::evaluation::{Evaluation, FindingSink, by_rule};
use crate::finding::{Cause, Finding, Subject, Verb};
use crate::programs::{
    FolderUse, WordUse, folder_use, path_words, searches_here, takes_texts, word_use,
};
use crate::protected::{Act, Protection, protection, word_protection};
use crate::reach::host_of_word;
use crate::rule_effect::RuleEffect;
use crate::wordpaths::named;

impl Evaluation<'_> {
    /// What the words of a program name: protected paths, paths and hosts that rules are about.
    pub(crate) fn words(&self, part: &Part, is_nested: bool, tell: FindingSink<'_>) {
        let act = match word_use(&part.argv) {
            WordUse::Text => return,
            WordUse::Reads => Act::Read,
            WordUse::Anything => Act::Change,
        };
        // The words of a wrapper are those of the program in it, which is heard itself.
        if is_nested && act == Act::Change && unwrapped(part).parts.len() > 1 {
            return;
        }
        let own = &self.rules.facts.own_files;
        if act == Act::Change
            && let Some(found) = protection(&part.cwd, act, own, &self.setting.roots)
        {
            tell(protected(Subject::Part(part), found));
        }
        for (_, word) in path_words(&part.argv) {
            if let Some(found) = self.word_protection(part, word, act) {
                tell(protected(Subject::Word(part, word), found));
            }
            self.word_paths(part, word, act, tell);
            self.word_host(part, word, tell);
        }
        if takes_texts(&part.argv) {
            let texts = part.argv.iter().skip(1);
            texts.for_each(|text| self.text(part, text, tell));
        }
        if searches_here(&part.argv) {
            self.folder(part, ".", &[Verb::Read], tell);
        }
    }

    fn word_protection(&self, part: &Part, word: &str, act: Act) -> Option<Protection> {
        let own = &self.rules.facts.own_files;
        let by_name = word_protection(word, act);
        let paths = named(part, word).into_iter();
        let by_path = paths.filter_map(|path| protection(&path, act, own, &self.setting.roots));
        by_name
            .into_iter()
            .chain(by_path)
            .max_by_key(|found| found.stance)
    }

    fn word_paths(&self, part: &Part, word: &str, act: Act, tell: FindingSink<'_>) {
        if !self.rules.has_path_rules() {
            return;
        }
        let verbs: &[Verb] = match act {
            Act::Read => &[Verb::Read],
            Act::Change | Act::Remove => &[Verb::Read, Verb::Delete],
        };
        for path in named(part, word) {
            for verb in verbs {
                self.path_rules(*verb, &path, &mut |rule| {
                    tell(by_rule(Subject::Word(part, word), rule));
                });
            }
        }
        match folder_use(&part.argv) {
            FolderUse::Searched => self.folder(part, word, &[Verb::Read], tell),
            FolderUse::Taken => {
                self.folder(part, word, &[Verb::Read, Verb::Write, Verb::Delete], tell)
            }
            FolderUse::Other => {}
        }
    }

    /// A folder that is searched or taken as a whole, with whatever rules are about beneath it.
    fn folder(&self, part: &Part, word: &str, verbs: &[Verb], tell: FindingSink<'_>) {
        for path in named(part, word) {
            self.rules_beneath(verbs, &path, &mut |rule| {
                tell(Finding {
                    subject: Subject::Word(part, word),
                    stance: RuleEffect::Ask,
                    cause: Cause::Rule(rule),
                });
            });
        }
    }

    /// A host that a word names by an address.
    fn word_host(&self, part: &Part, word: &str, tell: FindingSink<'_>) {
        if let Some(host) = host_of_word(word) {
            self.reach_rules(&host, &mut |rule| {
                tell(by_rule(Subject::Word(part, word), rule));
            });
        }
    }

    /// A text that somebody else takes apart: a protected name in it is reason enough to ask, and
    /// rules that deny hold for whatever may be a path or an address in it.
    pub(crate) fn text(&self, part: &Part, text: &str, tell: FindingSink<'_>) {
        if let Some(found) = mentioned(text) {
            let asked = Protection {
                stance: RuleEffect::Ask,
                ..found
            };
            tell(protected(Subject::Part(part), asked));
        }
        for word in text.split(is_between).filter(|word| !word.is_empty()) {
            self.word_paths(part, word, Act::Change, tell);
            self.word_host(part, word, tell);
        }
    }
}

/// Whether a character stands between words, in most languages.
fn is_between(c: char) -> bool {
    c.is_whitespace() || "'\"`;|&()<>$,{}[]".contains(c)
}

/// A protected name anywhere in a text.
fn mentioned(text: &str) -> Option<Protection> {
    let words = Words::of(text);
    let found = words
        .iter()
        .filter_map(|word| word_protection(word, Act::Change));
    found.max_by_key(|found| found.stance)
}

fn protected<'f>(subject: Subject<'f>, protection: Protection) -> Finding<'f> {
    Finding {
        subject,
        stance: protection.stance,
        cause: Cause::Protected(protection),
    }
}
