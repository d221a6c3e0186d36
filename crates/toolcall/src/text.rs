//! Cleans text for display: hidden characters become visible, long lines are cut between graphemes.
//! It must not drop a hidden character silently, nor read much further into a long text than it
//! shows.

use std::fmt::Write as _;
use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation as _;

const ELLIPSIS: char = '…';

/// The longest reason for an ending, in graphemes.
pub(crate) const LONGEST_REASON: usize = 4 * 1024;

/// Returns one line of at most `max_graphemes`, including the ellipsis of a cut.
///
/// Line breaks and tabs become one space; hidden characters become an escape such as `\u{202e}`.
///
/// ```
/// use toolcall::text::clean_line;
///
/// assert_eq!(clean_line("two\nlines", 40), "two lines");
/// assert_eq!(clean_line("a\u{202e}b", 40), r"a\u{202e}b");
/// assert_eq!(clean_line("a long line", 6), "a lon…");
/// ```
pub fn clean_line(text: &str, max_graphemes: usize) -> String {
    clean(text, max_graphemes, " ")
}

/// Like [`clean_line`], for an owned text: a clean one is returned unchanged.
pub fn into_clean_line(text: String, max_graphemes: usize) -> String {
    if is_clean(&text, max_graphemes) {
        text
    } else {
        clean_line(&text, max_graphemes)
    }
}

/// Like [`clean_line`], with line breaks shown as `⏎`: in a command they separate what runs.
pub fn clean_command(text: &str, max_graphemes: usize) -> String {
    clean(text, max_graphemes, " ⏎ ")
}

/// Cleans text of several lines: keeps `
/// ` and `\t`, turns `\r
/// ` into `
/// `, makes hidden characters visible.
pub fn clean_block(text: &str) -> String {
    if text
        .bytes()
        .all(|b| is_plain(b) || b == b'\n' || b == b'\t')
    {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            shown => push_visible(&mut out, shown),
        }
    }
    out
}

/// Formats a duration in at most seven characters.
pub fn duration(span: Duration) -> String {
    match span {
        Duration::ZERO => "-".to_owned(),
        short if short < Duration::from_millis(1) => format!("{} µs", short.as_micros()),
        medium if medium < Duration::from_secs(1) => format!("{} ms", medium.as_millis()),
        long if long < Duration::from_secs(100) => format!("{:.2} s", long.as_secs_f64()),
        long if long < Duration::from_secs(2 * 60 * 60) => format!("{} min", long.as_secs() / 60),
        long if long < Duration::from_secs(100 * 60 * 60) => {
            format!("{:.1} h", long.as_secs_f64() / 3600.0)
        }
        long => format!("{} d", long.as_secs() / (24 * 60 * 60)),
    }
}

/// Returns whether a character is invisible, looks like a space without being one, or reorders its
/// neighbours.
///
/// These are controls, format and bidi characters, fillers, tags, variation selectors, private use,
/// noncharacters and look-alike spaces; not the plain space, nor the wide space of CJK text.
pub fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    if code < 0x7f {
        return code < 0x20;
    }
    let after = HIDDEN.partition_point(|&(first, _)| first <= code);
    let in_range = after > 0 && code <= HIDDEN[after - 1].1;
    in_range || code & 0xfffe == 0xfffe
}

/// Appends a text as [`clean_line`] returns it.
pub(crate) fn push_clean(out: &mut String, text: &str, max_graphemes: usize) {
    if is_clean(text, max_graphemes) {
        out.push_str(text);
    } else {
        out.push_str(&clean_line(text, max_graphemes));
    }
}

/// Cuts a line that is clean already; at least the ellipsis remains.
pub(crate) fn shorten(line: &mut String, max_graphemes: usize) {
    cut(line, max_graphemes, Rest::End);
}

/// First and last of each range of hidden characters, in order.
const HIDDEN: &[(u32, u32)] = &[
    (0x00, 0x1f),
    (0x7f, 0xa0),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x206f),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xe000, 0xf8ff),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffc),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x16fe4, 0x16fe4),
    (0x1bca0, 0x1bca3),
    (0x1d159, 0x1d159),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
    (0xf0000, 0x10ffff),
];

fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e)
}

fn push_visible(out: &mut String, c: char) {
    if is_hidden(c) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else {
        out.push(c);
    }
}

fn is_clean(text: &str, max: usize) -> bool {
    text.len() <= max && text.bytes().all(is_plain)
}

fn clean(text: &str, max: usize, line_break: &str) -> String {
    if max == 0 {
        return String::new();
    }
    if is_clean(text, max) {
        return text.to_owned();
    }
    let head = text.as_bytes().iter().take(max.saturating_add(1));
    if text.len() > max && head.copied().all(is_plain) {
        return cut_plain(text, max);
    }
    let (mut line, more) = flatten(text, max, line_break);
    cut(&mut line, max, more);
    line
}

/// Cuts a line whose first `max + 1` bytes are printable ASCII, so that a byte is a grapheme.
fn cut_plain(text: &str, max: usize) -> String {
    let Some(head) = max.checked_sub(1).and_then(|end| text.get(..end)) else {
        return String::new();
    };
    let mut line = String::with_capacity(head.len() + ELLIPSIS.len_utf8());
    line.push_str(head);
    line.push(ELLIPSIS);
    line
}

/// Whitespace that was read and not written yet: it counts only once something follows it.
#[derive(Clone, Copy, PartialEq)]
enum Gap {
    None,
    Space,
    Break,
}

/// Flattens the beginning of a text to one visible line, and returns whether the text goes on.
fn flatten(text: &str, max: usize, line_break: &str) -> (String, Rest) {
    // A grapheme may have any number of characters, so the work is limited by characters.
    let budget = max.saturating_mul(8).saturating_add(64);
    let mut out = String::with_capacity(text.len().min(budget));
    let mut chars = text.chars().peekable();
    let mut gap = Gap::None;
    for c in chars.by_ref().take(budget) {
        match c {
            '\n' => gap = Gap::Break,
            '\t' if gap == Gap::None => gap = Gap::Space,
            '\t' => {}
            ' ' if gap != Gap::None => {}
            shown => {
                fill(&mut out, std::mem::replace(&mut gap, Gap::None), line_break);
                push_visible(&mut out, shown);
            }
        }
    }
    let more = if chars.next().is_some() {
        Rest::More
    } else {
        Rest::End
    };
    (out, more)
}

/// Whether a text goes on after what was read.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    End,
    More,
}

fn fill(out: &mut String, gap: Gap, line_break: &str) {
    if gap == Gap::None {
        return;
    }
    // A `\r` before the break was escaped when it was read; as part of `\r
    // ` it is dropped.
    if gap == Gap::Break && out.ends_with("\\u{d}") {
        out.truncate(out.len() - "\\u{d}".len());
    }
    out.truncate(out.trim_end_matches(' ').len());
    match gap {
        Gap::None => {}
        Gap::Space if !out.is_empty() => out.push(' '),
        Gap::Break if !out.is_empty() => out.push_str(line_break),
        Gap::Space | Gap::Break => {}
    }
}

/// Cuts a visible line to `max` graphemes, including the ellipsis.
fn cut(line: &mut String, max: usize, rest: Rest) {
    if rest == Rest::End && line.len() <= max {
        return;
    }
    let mut starts = line.grapheme_indices(true).map(|(at, _)| at);
    let kept_end = starts.nth(max.saturating_sub(1));
    if rest == Rest::End && (kept_end.is_none() || starts.next().is_none()) {
        return;
    }
    // The line may end inside a grapheme: then its last one is incomplete.
    let last = line.grapheme_indices(true).next_back();
    let whole_end = last.map_or(0, |(at, _)| at);
    line.truncate(kept_end.map_or(whole_end, |end| end.min(whole_end)));
    line.push(ELLIPSIS);
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, max: usize, expected: Expect) {
        expected.assert_eq(&clean_line(text, max));
    }

    #[test]
    fn ranges_are_in_order() {
        assert!(HIDDEN.iter().all(|(first, last)| first <= last));
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn lines_are_cut_between_graphemes() {
        check("plain", 5, expect!["plain"]);
        check("plainer", 5, expect!["plai…"]);
        check("e\u{301}e\u{301}e\u{301}", 3, expect!["ééé"]);
        check("e\u{301}e\u{301}e\u{301}", 2, expect!["é…"]);
        check("日本語の文字", 4, expect!["日本語…"]);
        check("anything", 0, expect![""]);
        check("ab", 1, expect!["…"]);
    }

    #[test]
    fn hidden_characters_become_visible() {
        check("a\u{202e}b\u{200b}c", 40, expect![[r"a\u{202e}b\u{200b}c"]]);
        check("\u{1b}[31mred", 40, expect![[r"\u{1b}[31mred"]]);
        check("x\u{e0041}\u{fe0f}", 40, expect![[r"x\u{e0041}\u{fe0f}"]]);
        check("rm\u{a0}-rf", 40, expect![[r"rm\u{a0}-rf"]]);
    }

    #[test]
    fn breaks_become_one_space() {
        check("\n a \r\n\t b\n\n", 40, expect!["a b"]);
        expect!["a ⏎ b"].assert_eq(&clean_command("a\r\nb\n", 40));
        expect![[r"a\u{d}b"]].assert_eq(&clean_line("a\rb", 40));
    }

    #[test]
    fn blocks_keep_their_lines() {
        expect![[r#"
            a
            	b\u{d}c\u{202e}"#]]
        .assert_eq(&clean_block("a\r\n\tb\rc\u{202e}"));
    }

    #[test]
    fn one_endless_grapheme_is_cut() {
        let endless = format!("a{}", "\u{301}".repeat(100_000));
        check(&endless, 10, expect!["…"]);
        check(&"\n".repeat(100_000), 10, expect!["…"]);
    }

    #[test]
    fn durations_take_seven_characters() {
        let shown = [0, 999, 999_999, 99_990_000, 7_199_000_000, 359_000_000_000]
            .map(|micros| duration(Duration::from_micros(micros)));
        assert_eq!(
            shown,
            ["-", "999 µs", "999 ms", "99.99 s", "119 min", "99.7 h"]
        );
        assert_eq!(duration(Duration::from_secs(864_000)), "10 d");
    }
}
