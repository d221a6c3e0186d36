//! What a command's text means, on the word of two readers.
//! It runs nothing and looks at nothing but the text and the folder it is given.

use std::path::Path;

use toolcall::{Access, Part, Reading, Target, Touch};

use crate::meaning::parts;
use crate::refusal::Refusal;
use crate::second::parse;
use crate::step::{Doubt, Step};
use crate::strict::recognise;

/// Longer texts are not understood.
pub const LONGEST_TEXT: usize = 16 * 1024;

/// Texts with more programs are not understood.
pub const MOST_PARTS: usize = 64;

/// Reads a command that is to run in `cwd`, an absolute path with every link followed.
///
/// Understood are plain and quoted words joined by `&&`, `||`, `;` and `|`; the redirects `<`, `>`,
/// `>>` of the usual streams and of 2, and `2>&1`; and `cd FOLDER &&` where everything that follows
/// needs it to succeed. `cd` goes by the names in its path, as shells do.
///
/// ```
/// use toolcall::Reading;
///
/// let Reading::Understood(parts) = toolcall_shell::read("cd src && grep -n 'a b' x | head", "/w".as_ref()) else {
///     panic!("this is plain");
/// };
/// assert_eq!(parts[0].argv, ["grep", "-n", "a b", "x"]);
/// assert_eq!(parts[1].cwd.to_str(), Some("/w/src"));
/// ```
pub fn read(text: &str, cwd: &Path) -> Reading {
    match understood(text, cwd) {
        Ok(parts) => Reading::Understood(parts),
        Err(doubt) => Reading::Unclear(doubt.to_string().into()),
    }
}

/// The files that an understood command's redirects open, as touches.
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

fn understood(text: &str, cwd: &Path) -> Result<Vec<Part>, Doubt> {
    if text.len() > LONGEST_TEXT {
        return Err(Doubt::new(Refusal::LongText, LONGEST_TEXT));
    }
    if !cwd.is_absolute() {
        return Err(Doubt::new(Refusal::RelativeFolder, 0));
    }
    let steps = recognise(text)?;
    if let Some((at, _)) = steps.get(MOST_PARTS) {
        return Err(Doubt::new(Refusal::ManyPrograms, *at));
    }
    let parts = parts(&steps, cwd)?;
    check_agreement(&steps, parse(text))?;
    Ok(parts)
}

/// The second reader must have found the same, to the letter.
fn check_agreement(steps: &[(usize, Step)], second: Option<Vec<Step>>) -> Result<(), Doubt> {
    let second = second.unwrap_or_default();
    let differs = steps
        .iter()
        .enumerate()
        .find(|(place, (_, step))| second.get(*place) != Some(step));
    match differs {
        Some((_, (at, _))) => Err(Doubt::new(Refusal::ReadDifferently, *at)),
        None if second.len() > steps.len() => Err(Doubt::new(Refusal::SeenOnce, 0)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
