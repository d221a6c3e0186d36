//! Folds file names that a file system may treat as equal: case, width, hidden characters, trailing dots.
//! It folds too much rather than too little; folded names are compared, never opened.

use std::path::{Component, Path, PathBuf};

use toolcall::text::is_hidden;
use unicode_normalization::UnicodeNormalization as _;

/// Folds one name of a path.
pub(crate) fn fold(name: &str) -> String {
    let plain = name.bytes().all(|b| {
        b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_' || b == b'.'
    });
    let folded = if plain {
        name.to_owned()
    } else {
        fold_letters(name)
    };
    // On NTFS, `name:stream` and names with trailing dots or spaces are the same file.
    let stem = match folded.find(':') {
        Some(at) if at > 0 => &folded[..at],
        Some(_) | None => &folded,
    };
    let trimmed = stem.trim_end_matches(['.', ' ']);
    if trimmed.is_empty() {
        folded
    } else {
        trimmed.to_owned()
    }
}

/// Folds case, width and hidden characters, but not the end of a name.
pub(crate) fn fold_letters(text: &str) -> String {
    let visible = text.chars().filter(|c| !is_hidden(*c));
    let lower: String = visible.nfkc().flat_map(char::to_lowercase).collect();
    let again = lower.nfkc().filter(|c| !is_hidden(*c));
    again.collect()
}

/// Folds every name of a path.
pub(crate) fn fold_path(path: &Path) -> PathBuf {
    path.components()
        .map(|part| match part {
            Component::Normal(name) => PathBuf::from(fold(&name.to_string_lossy())),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => PathBuf::from(part.as_os_str()),
        })
        .collect()
}

/// Whether a folded name may be the short form (`GIT~1`) of another folded name (`.git`).
pub(crate) fn is_short_form(folded: &str, of: &str) -> bool {
    short_base(folded).is_some_and(|base| short_prefix(of) == base)
}

/// Whether a folded name may be the short form of a name with this prefix.
pub(crate) fn is_short_beginning(folded: &str, of: &str) -> bool {
    short_base(folded).is_some_and(|base| base.starts_with(&short_prefix(of)))
}

/// Returns what stands before the `~1` of a short form.
fn short_base(folded: &str) -> Option<&str> {
    let (base, number) = folded.split_once('~')?;
    let digits = number.split('.').next().unwrap_or_default();
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    (is_number && !base.is_empty()).then_some(base)
}

/// Returns the beginning of a name that its short form has.
fn short_prefix(name: &str) -> String {
    let long = name.trim_start_matches('.');
    let stem = long.rsplit_once('.').map_or(long, |(stem, _)| stem);
    let letters = stem.chars().filter(|c| *c != '.' && *c != ' ');
    letters.take(6).collect()
}

/// Resolves `.` and `..` in a path by name, without following symlinks.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}
