//! Recognizes `sed` scripts that only print.
//! A script that it cannot parse to the end counts as one that writes.

/// Whether a script writes no file, reads no other file and runs nothing.
pub(super) fn is_harmless(script: &str) -> bool {
    let mut rest = script;
    while !rest.is_empty() {
        let Some(after) = command(rest) else {
            return false;
        };
        rest = after;
    }
    true
}

/// Returns what follows the first command, if that command is harmless.
fn command(script: &str) -> Option<&str> {
    let script = script.trim_start_matches([' ', ';', '\n', '{', '}']);
    if script.is_empty() {
        return Some("");
    }
    let script = addresses(script)?.trim_start_matches([' ', '!', '{']);
    let mut chars = script.chars();
    let after = match chars.next()? {
        's' => flags(delimited(chars.as_str(), 2)?),
        'y' => delimited(chars.as_str(), 2)?,
        'q' | 'Q' => chars
            .as_str()
            .trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()),
        'p' | 'd' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'D' | 'P' | 'l' => {
            chars.as_str()
        }
        _ => return None,
    };
    let after = after.trim_start_matches(' ');
    (after.is_empty() || after.starts_with([';', '\n', '}'])).then_some(after)
}

/// Returns what follows the addresses before a command.
fn addresses(script: &str) -> Option<&str> {
    let first = address(script)?;
    match first.trim_start_matches(' ').strip_prefix(',') {
        Some(second) => {
            let second = second.trim_start_matches([' ', '+', '~']);
            address(second)
        }
        None => Some(first),
    }
}

fn address(script: &str) -> Option<&str> {
    if let Some(rest) = script.strip_prefix('/') {
        let end = unescaped(rest, '/')?;
        return Some(rest[end + 1..].trim_start_matches(['I', 'M']));
    }
    let is_number = |c: char| c.is_ascii_digit() || c == '$' || c == '~';
    Some(script.trim_start_matches(is_number))
}

/// Returns what follows this many delimited fields.
fn delimited(text: &str, fields: usize) -> Option<&str> {
    let delimiter = text
        .chars()
        .next()
        .filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
    let mut rest = &text[delimiter.len_utf8()..];
    for _ in 0..fields {
        let end = unescaped(rest, delimiter)?;
        rest = &rest[end + delimiter.len_utf8()..];
    }
    Some(rest)
}

/// Skips flags that only choose what is replaced and printed; not `e` and `w`.
fn flags(text: &str) -> &str {
    text.trim_start_matches(|c: char| "gpiIM".contains(c) || c.is_ascii_digit())
}

/// Returns the index of the first `wanted` without a backslash before it. Versions of `sed` differ on one
/// inside a set (`[/]`); if that makes a difference, the result is `None`.
fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let plain = end_of_field(text, wanted, Sets::Ignored)?;
    let with_sets = end_of_field(text, wanted, Sets::Skipped)?;
    (plain == with_sets).then_some(plain)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sets {
    Ignored,
    Skipped,
}

fn end_of_field(text: &str, wanted: char, sets: Sets) -> Option<usize> {
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        if c == wanted {
            return Some(at);
        }
        if c == '\\' {
            rest.next();
        } else if c == '[' && sets == Sets::Skipped {
            let set = rest.as_str();
            let first = set.strip_prefix('^').unwrap_or(set);
            // A `]` that comes first belongs to the set.
            let skipped = set.len() - first.len() + usize::from(first.starts_with(']'));
            let end = skipped + set[skipped..].find(']')?;
            rest.by_ref()
                .take_while(|(inside, _)| *inside < at + 1 + end)
                .for_each(drop);
        }
    }
    None
}
