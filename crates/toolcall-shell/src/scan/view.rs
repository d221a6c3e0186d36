//! The ways in which a text may turn into words.
//! Each is a rough guess at what some shell does; together they leave few places to hide.

/// The words of a text under every view; views that are the same are kept once.
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

/// A text without anything that quotes.
pub(super) fn bare(text: &str) -> String {
    joined(text).replace(is_quoting, "")
}

fn joined(text: &str) -> String {
    text.replace("\\\n", "")
}

/// The pieces of a text between all characters that can end a word.
pub(super) fn split(text: &str) -> Vec<String> {
    let pieces = text.split(is_split).filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

/// Whether a character can end a word, in a shell or in what a program makes of its arguments.
fn is_split(c: char) -> bool {
    c.is_whitespace() || toolcall::text::is_hidden(c) || "'\"`\\;|&<>(){}$=,!#:%^".contains(c)
}

fn is_quoting(c: char) -> bool {
    ['\'', '"', '\\', '`'].contains(&c)
}

fn is_hidden(c: char) -> bool {
    toolcall::text::is_hidden(c) && !c.is_whitespace()
}

/// `\x72`, `\162`, `\u0072` and the like turned into their characters, as `$'…'` and `printf` do.
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

/// The character of an escape, and how many bytes it takes after the backslash.
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

/// Expansions that may come to nothing (`r$@m`, `r${x}m`) taken out.
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

/// How many bytes after a `$` belong to its expansion.
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
