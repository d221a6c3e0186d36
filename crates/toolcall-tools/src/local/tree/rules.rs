//! The rules of ignore files: `.ignore`, `.gitignore` and `.git/info/exclude`, nearest first.
//! It reads no other file, opens them through the handle of their directory, and follows no symlink.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

use super::names::EntryName;

/// How much of an ignore file is read.
const MAX_BYTES: u64 = 256 * 1024;

/// What the rules say about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleMatch {
    Nothing,
    Hide,
    /// An exception (`!name`): shown even if its name begins with a dot.
    Show,
}

/// Which ignore files a directory may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IgnoreFiles {
    ignore: bool,
    gitignore: bool,
    git: bool,
}

impl IgnoreFiles {
    /// Unknown, so each file has to be tried.
    pub(super) const UNKNOWN: IgnoreFiles = IgnoreFiles {
        ignore: true,
        gitignore: true,
        git: true,
    };

    pub(super) fn among(names: &[EntryName]) -> Self {
        let has = |wanted: &CStr| names.iter().any(|name| *name.text == *wanted);
        Self {
            ignore: has(c".ignore"),
            gitignore: has(c".gitignore"),
            git: has(c".git"),
        }
    }
}

/// The rules of a directory and of the directories above it.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
}

impl IgnoreRules {
    /// Adds the rules of a directory to those above it. Returns those above if it adds none.
    pub(super) fn with_directory(
        above: Option<Arc<IgnoreRules>>,
        dir: BorrowedFd<'_>,
        path: &Path,
        present: IgnoreFiles,
    ) -> Option<Arc<IgnoreRules>> {
        let of = |is_there: bool, name| {
            if is_there {
                parse(path, &read(dir, name).unwrap_or_default())
            } else {
                Gitignore::empty()
            }
        };
        let exclude = present.git.then(|| read_exclude(dir)).flatten();
        let rules = IgnoreRules {
            ignore: of(present.ignore, c".ignore"),
            gitignore: of(present.gitignore, c".gitignore"),
            exclude: parse(path, &exclude.unwrap_or_default()),
            above,
        };
        if rules.is_empty() {
            rules.above
        } else {
            Some(Arc::new(rules))
        }
    }

    fn is_empty(&self) -> bool {
        self.ignore.is_empty() && self.gitignore.is_empty() && self.exclude.is_empty()
    }

    /// Returns what the nearest rule says. `.ignore` takes precedence over `.gitignore` of any level.
    pub(super) fn evaluate(&self, path: &Path, kind: super::Kind) -> RuleMatch {
        let is_dir = kind == super::Kind::Folder;
        let first = |of: fn(&IgnoreRules) -> &Gitignore| {
            let mut rules = Some(self);
            while let Some(here) = rules {
                match of(here).matched(path, is_dir) {
                    Match::None => rules = here.above.as_deref(),
                    Match::Ignore(_) => return RuleMatch::Hide,
                    Match::Whitelist(_) => return RuleMatch::Show,
                }
            }
            RuleMatch::Nothing
        };
        first(|rules| &rules.ignore)
            .or(|| first(|rules| &rules.gitignore))
            .or(|| first(|rules| &rules.exclude))
    }
}

impl RuleMatch {
    fn or(self, other: impl FnOnce() -> RuleMatch) -> RuleMatch {
        match self {
            RuleMatch::Nothing => other(),
            RuleMatch::Hide | RuleMatch::Show => self,
        }
    }
}

/// Parses an ignore file. Invalid rules are skipped.
fn parse(root: &Path, text: &str) -> Gitignore {
    if text.is_empty() {
        return Gitignore::empty();
    }
    let mut builder = GitignoreBuilder::new(root);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _nonsense = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn read_exclude(dir: BorrowedFd<'_>) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let git = openat(dir, c".git", flags, Mode::empty()).ok()?;
    let info = openat(&git, c"info", flags, Mode::empty()).ok()?;
    read(info.as_fd(), c"exclude")
}

/// Reads the beginning of a regular file, as far as it is text.
fn read(dir: BorrowedFd<'_>, name: &CStr) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(dir, name, flags, Mode::empty()).ok()?;
    let stat = fstat(&opened).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    let mut file = File::from(opened).take(MAX_BYTES);
    file.read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 == MAX_BYTES {
        // The last line may be cut off, and half a rule is a different rule.
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(end.unwrap_or(0));
    }
    Some(valid_text(bytes))
}

/// Returns the lines before the first one that is not UTF-8.
fn valid_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let valid = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        bytes.truncate(valid);
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(end.map_or(0, |at| at + 1));
        String::from_utf8(bytes).unwrap_or_default()
    })
}
