//! Rust source reduced to its code: comments and literals blanked, so that rules judge code and not talk of it.
//! It is no parser: it knows words and brackets, nothing more.

/// The text with comments turned to spaces and literals to quotes; every line keeps its number.
pub(crate) fn only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let before = code.chars().next_back();
        let hidden = hidden(rest, before);
        let (piece, tail) = rest.split_at(hidden.map_or(first.len_utf8(), |(len, _)| len));
        match hidden {
            Some((_, blank)) => code.extend(piece.chars().map(|c| over(c, blank))),
            None => code.push_str(piece),
        }
        rest = tail;
    }
    code
}

/// The string literals of a text, as they are written, with their lines.
pub(crate) fn literals(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut at, mut line, mut before) = (0, 1, None);
    while let Some(first) = text[at..].chars().next() {
        let hidden = hidden(&text[at..], before);
        let len = hidden.map_or(first.len_utf8(), |(len, _)| len);
        let piece = &text[at..at + len];
        if hidden.is_some_and(|(_, blank)| blank == '"') && piece.ends_with(['"', '#']) {
            found.push((line, piece));
        }
        line += piece.matches('\n').count();
        before = piece.chars().next_back();
        at += len;
    }
    found
}

/// A word of code (identifier, keyword or number) and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
    /// Byte offset in the code.
    pub(crate) start: usize,
}

impl Word<'_> {
    /// Byte offset just after the word.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words of a text in order.
pub(crate) fn words(code: &str) -> impl Iterator<Item = Word<'_>> {
    let mut line = 1;
    let mut start = 0;
    code.split_inclusive(|c| !is_word(c))
        .filter_map(move |piece| {
            let text = piece.trim_end_matches(|c| !is_word(c));
            let word = Word { text, line, start };
            start += piece.len();
            line += usize::from(piece.ends_with('\n'));
            (!text.is_empty()).then_some(word)
        })
}

/// Whether `c` can be part of an identifier.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What stands between the bracket that opens `text` and the one that closes it.
pub(crate) fn bracketed(text: &str) -> Option<&str> {
    let open = text.chars().next()?;
    let close = match open {
        '(' => ')',
        '<' => '>',
        '[' => ']',
        _ => return None,
    };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        depth += usize::from(c == open);
        depth -= usize::from(c == close);
        if depth == 0 {
            return Some(&text[1..at]);
        }
    }
    None
}

fn over(c: char, blank: char) -> char {
    if c == '\n' { '\n' } else { blank }
}

/// The length of the comment or literal that `rest` begins with, and what to put in its place.
fn hidden(rest: &str, before: Option<char>) -> Option<(usize, char)> {
    if rest.starts_with("//") {
        return Some((rest.find('\n').unwrap_or(rest.len()), ' '));
    }
    if rest.starts_with("/*") {
        return Some((block_comment(rest), ' '));
    }
    let literal = match rest.chars().next()? {
        '"' => Some(string(rest)),
        '\'' => character(rest),
        'r' | 'b' | 'c' if !before.is_some_and(is_word) => raw_string(rest),
        _ => None,
    };
    literal.map(|len| (len, '"'))
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `r"…"`, `r#"…"#` and their `b` and `c` kin; `None` for a raw identifier or any other word.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        let after = rest.strip_prefix(prefix).unwrap_or_default();
        after.trim_start_matches('#').starts_with('"')
    })?;
    let after = &rest[prefix.len()..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    let begin = prefix.len() + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = rest[begin..]
        .find(&close)
        .map(|at| begin + at + close.len());
    Some(end.unwrap_or(rest.len()))
}

/// The length of a character literal; `None` for a lifetime or a label.
fn character(rest: &str) -> Option<usize> {
    let mut inside = rest.char_indices().skip(1);
    let (_, first) = inside.next()?;
    if first == '\\' {
        inside.next()?;
        return inside.find(|(_, c)| *c == '\'').map(|(at, _)| at + 1);
    }
    let (at, close) = inside.next()?;
    (close == '\'').then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the code of a text, with the quotes of literals shown as `~`.
    fn check(text: &str, code: &str) {
        assert_eq!(only(text).replace('"', "~"), code, "{text}");
    }

    #[test]
    fn comments_become_spaces() {
        check("a // b\nc", "a     \nc");
        check("a /* b /* c */ d */ e", "a                   e");
        check("//! é\nx", "     \nx");
        check("a /* never closed", "a                ");
    }

    #[test]
    fn literals_become_quotes() {
        check(r#"f("a\"b", c)"#, "f(~~~~~~, c)");
        check(r##"f(r#"a"b"#)"##, "f(~~~~~~~~)");
        check(r#"br"x" b"y""#, "~~~~~ b~~~");
        check(r"'a' '\'' '\u{1F600}'", "~~~ ~~~~ ~~~~~~~~~~~");
        check("\"two\nlines\"", "~~~~\n~~~~~~");
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check("r#type bar r", "r#type bar r");
    }

    #[test]
    fn words_know_their_line_and_place() {
        let found: Vec<_> = words("fn a_1(\n b)")
            .map(|w| (w.text, w.line, w.end()))
            .collect();
        assert_eq!(found, [("fn", 1, 2), ("a_1", 1, 6), ("b", 2, 10)]);
    }

    #[test]
    fn brackets_are_matched() {
        assert_eq!(bracketed("<Vec<u8>>()"), Some("Vec<u8>"));
        assert_eq!(bracketed("(a"), None);
        assert_eq!(bracketed("a"), None);
    }
}
