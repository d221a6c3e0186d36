//! Which names ignore files hide: `.ignore`, `.gitignore` and `.git/info/exclude`, nearest first.
//! It reads nothing but these, through the handle of their folder, and follows no link to them.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

use super::names::Name;

/// No person writes more rules than fit here; what is behind is not read.
const LONGEST: u64 = 256 * 1024;

/// What rules say of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Hide,
    /// Named as an exception: shown even where its name begins with a dot.
    Show,
}

/// Which ignore files a folder seems to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Present {
    ignore: bool,
    gitignore: bool,
    git: bool,
}

impl Present {
    /// Whatever there is: each has to be tried.
    pub(super) const UNKNOWN: Present = Present {
        ignore: true,
        gitignore: true,
        git: true,
    };

    pub(super) fn among(names: &[Name]) -> Self {
        let has = |wanted: &CStr| names.iter().any(|name| *name.text == *wanted);
        Self {
            ignore: has(c".ignore"),
            gitignore: has(c".gitignore"),
            git: has(c".git"),
        }
    }
}

/// The rules of a folder, and those of the folders above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
}

impl Rules {
    /// With what the files of this folder add; those of the folders above, where they add nothing.
    pub(super) fn with_folder(
        above: Option<Arc<Rules>>,
        folder: BorrowedFd<'_>,
        path: &Path,
        present: Present,
    ) -> Option<Arc<Rules>> {
        let of = |is_there: bool, name| match is_there {
            true => parse(path, &read(folder, name).unwrap_or_default()),
            false => Gitignore::empty(),
        };
        let exclude = present.git.then(|| read_exclude(folder)).flatten();
        let rules = Rules {
            ignore: of(present.ignore, c".ignore"),
            gitignore: of(present.gitignore, c".gitignore"),
            exclude: parse(path, &exclude.unwrap_or_default()),
            above,
        };
        match rules.is_empty() {
            true => rules.above,
            false => Some(Arc::new(rules)),
        }
    }

    fn is_empty(&self) -> bool {
        self.ignore.is_empty() && self.gitignore.is_empty() && self.exclude.is_empty()
    }

    /// What the nearest rule says; `.ignore` goes before `.gitignore` at whatever level.
    pub(super) fn say(&self, path: &Path, kind: super::Kind) -> Said {
        let is_folder = kind == super::Kind::Folder;
        let first = |of: fn(&Rules) -> &Gitignore| {
            let mut rules = Some(self);
            while let Some(here) = rules {
                match of(here).matched(path, is_folder) {
                    Match::None => rules = here.above.as_deref(),
                    Match::Ignore(_) => return Said::Hide,
                    Match::Whitelist(_) => return Said::Show,
                }
            }
            Said::Nothing
        };
        first(|rules| &rules.ignore)
            .or(|| first(|rules| &rules.gitignore))
            .or(|| first(|rules| &rules.exclude))
    }
}

impl Said {
    fn or(self, other: impl FnOnce() -> Said) -> Said {
        match self {
            Said::Nothing => other(),
            Said::Hide | Said::Show => self,
        }
    }
}

/// A rule that makes no sense hides nothing.
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

fn read_exclude(folder: BorrowedFd<'_>) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let git = openat(folder, c".git", flags, Mode::empty()).ok()?;
    let info = openat(&git, c"info", flags, Mode::empty()).ok()?;
    read(info.as_fd(), c"exclude")
}

/// The beginning of a regular file, as far as it is text.
fn read(folder: BorrowedFd<'_>, name: &CStr) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty()).ok()?;
    let stat = fstat(&opened).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    let mut file = File::from(opened).take(LONGEST);
    file.read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 == LONGEST {
        // The last line may be cut, and half a rule is another rule.
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(end.unwrap_or(0));
    }
    Some(text_of(bytes))
}

/// What is before the first line that is no text.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let valid = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        bytes.truncate(valid);
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(end.map_or(0, |at| at + 1));
        String::from_utf8(bytes).unwrap_or_default()
    })
}
