//! Reads a command text into the programs that it runs, if two independent parsers agree on them.
//! It runs nothing and opens no file: it sees only the text and the working directory.

use std::path::Path;

use toolcall::{Access, Part, Reading, Target, Touch};

use crate::ambiguity::{Ambiguity, AmbiguityKind};
use crate::brush;
use crate::grammar::recognise;
use crate::resolve::resolve;
use crate::simple_command::SimpleCommand;

/// The length in bytes above which a text is unclear.
pub const MAX_TEXT_LEN: usize = 16 * 1024;

/// The number of programs above which a text is unclear.
pub const MAX_PARTS: usize = 64;

/// Reads a command that is to run in `cwd`, an absolute path without symlinks.
///
/// It understands plain and quoted words joined by `&&`, `||`, `;` and `|`; the redirects `<`, `>` and
/// `>>` of standard input and output, the same of stream 2, and `2>&1`; and `cd DIRECTORY &&` where
/// everything after it runs only if it succeeds. `cd` resolves its path by name, as shells do.
///
/// ```
/// use toolcall::Reading;
///
/// let Reading::Understood(parts) = toolcall_shell::read("cd src && grep -n 'a b' x | head", "/w".as_ref()) else {
///     panic!("the text is unclear");
/// };
/// assert_eq!(parts[0].argv, ["grep", "-n", "a b", "x"]);
/// assert_eq!(parts[1].cwd.to_str(), Some("/w/src"));
/// ```
pub fn read(text: &str, cwd: &Path) -> Reading {
    match parse(text, cwd) {
        Ok(parts) => Reading::Understood(parts),
        Err(ambiguity) => Reading::Unclear(ambiguity.to_string().into()),
    }
}

/// Returns the files that the redirects of an understood command open.
///
/// ```
/// use toolcall::Touch;
///
/// let reading = toolcall_shell::read("sort < a > b", "/w".as_ref());
/// let files = [Touch::Reads("/w/a".into()), Touch::Writes("/w/b".into())];
/// assert_eq!(toolcall_shell::touches(&reading), files);
/// ```
pub fn touches(reading: &Reading) -> Vec<Touch> {
    let parts = match reading {
        Reading::Understood(parts) => parts.as_slice(),
        Reading::Unclear(_) => &[],
    };
    let redirects = parts.iter().flat_map(|part| &part.redirects);
    redirects
        .filter_map(|redirect| touch(&redirect.target))
        .collect()
}

fn touch(target: &Target) -> Option<Touch> {
    match target {
        Target::Null | Target::Stream(_) => None,
        Target::File { path, access } => Some(match access {
            Access::Read => Touch::Reads(path.clone()),
            Access::Replace | Access::Append => Touch::Writes(path.clone()),
        }),
    }
}

fn parse(text: &str, cwd: &Path) -> Result<Vec<Part>, Ambiguity> {
    if text.len() > MAX_TEXT_LEN {
        return Err(Ambiguity::new(AmbiguityKind::LongText, MAX_TEXT_LEN));
    }
    if !cwd.is_absolute() {
        return Err(Ambiguity::new(AmbiguityKind::RelativeDirectory, 0));
    }
    let commands = recognise(text)?;
    if let Some((at, _)) = commands.get(MAX_PARTS) {
        return Err(Ambiguity::new(AmbiguityKind::ManyPrograms, *at));
    }
    let parts = resolve(&commands, cwd)?;
    check_agreement(&commands, brush::parse(text))?;
    Ok(parts)
}

/// Checks that the second parser found exactly the same commands.
fn check_agreement(
    commands: &[(usize, SimpleCommand)],
    second: Option<Vec<SimpleCommand>>,
) -> Result<(), Ambiguity> {
    let second = second.unwrap_or_default();
    let differs = commands
        .iter()
        .enumerate()
        .find(|(index, (_, command))| second.get(*index) != Some(command));
    match differs {
        Some((_, (at, _))) => Err(Ambiguity::new(AmbiguityKind::ReadDifferently, *at)),
        None if second.len() > commands.len() => Err(Ambiguity::new(AmbiguityKind::SeenOnce, 0)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
