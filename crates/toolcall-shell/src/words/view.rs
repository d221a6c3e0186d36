//! The views of a text: different ways in which a shell may split it into words.
//! Each view is approximate; together they leave few ways to hide a word.

/// Returns the words of a text in every view, without adjacent equal views.
pub(super) fn views(text: &str) -> Vec<Vec<String>> {
    let joined = joined(text);
    let unescaped = unescaped(&joined);
    let bare = bare(text);
    let mut views = vec![
        split(&joined),
        split(&bare),
        split(&unescaped.replace(is_quoting, "")),
        split(&without_expansions(&bare)),
        split(&without_expansions(&unescaped.replace(is_quoting, ""))),
        split(&joined.replace(is_hidden, "")),
        split(&bare.replace(is_hidden, "")),
        split(&bare.replace(['{', '}', ','], "")),
    ];
    views.dedup();
    views
}

/// Returns a text without quoting characters.
pub(super) fn bare(text: &str) -> String {
    joined(text).replace(is_quoting, "")
}

fn joined(text: &str) -> String {
    text.replace("\\\n", "")
}

/// Splits a text at every character that can end a word.
pub(super) fn split(text: &str) -> Vec<String> {
    let pieces = text.split(is_split).filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

/// Whether a character can end a word, in a shell or in a program that parses its arguments.
fn is_split(c: char) -> bool {
    c.is_whitespace() || toolcall::text::is_hidden(c) || "'\"`\\;|&<>(){}$=,!#:%^".contains(c)
}

fn is_quoting(c: char) -> bool {
    ['\'', '"', '\\', '`'].contains(&c)
}

fn is_hidden(c: char) -> bool {
    toolcall::text::is_hidden(c) && !c.is_whitespace()
}

/// Decodes `\x72`, `\162`, `\u0072` and so on, as `$'…'` and `printf` do.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (c, length) = escape(after).unwrap_or(('\\', 0));
        out.push(c);
        rest = &after[length..];
    }
    out + rest
}

/// Returns the character of an escape, and its length in bytes after the backslash.
fn escape(after: &str) -> Option<(char, usize)> {
    let (prefix, radix, most) = match after.bytes().next()? {
        b'x' => (1, 16, 2),
        b'u' => (1, 16, 4),
        b'U' => (1, 16, 8),
        b'0'..=b'7' => (0, 8, 3),
        _ => return None,
    };
    let digits = after[prefix..].chars().take(most);
    let length = digits.take_while(|c| c.is_digit(radix)).count();
    let code = u32::from_str_radix(&after[prefix..prefix + length], radix).ok()?;
    Some((char::from_u32(code)?, prefix + length))
}

/// Removes expansions that may be empty (`r$@m`, `r${x}m`).
fn without_expansions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        rest = &after[expansion(after)..];
    }
    out + rest
}

/// Returns the length in bytes of the expansion after a `$`.
fn expansion(after: &str) -> usize {
    let close = match after.chars().next() {
        Some('{') => '}',
        Some('(') => ')',
        Some(c) if c.is_alphanumeric() || c == '_' => {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            return after.find(|c| !is_name(c)).unwrap_or(after.len());
        }
        Some(c) => return c.len_utf8(),
        None => return 0,
    };
    after.find(close).map_or(1, |end| end + 1)
}
