//! Where a text that is not in a file may have been meant: the nearest lines.
//! Bounded work; it only advises, and changes nothing.

use std::cmp::Ordering;

use toolcall::text::clean_line;

/// What follows in a long line is not looked at.
const LONGEST_LINE: usize = 200;
/// How many pairs of characters are compared in all: a moment's work.
const MOST_PAIRS: usize = 8_000_000;
/// Less alike than this is not worth a word.
const LEAST: f64 = 0.5;

/// A sentence that says where something like the wanted text is.
pub(super) fn nearest(text: &str, wanted: &str) -> String {
    let first = wanted.lines().find(|line| !line.trim().is_empty());
    let wanted = cut(first.unwrap_or_default()).trim();
    let mut left = MOST_PAIRS;
    let lines = text.lines().enumerate().map_while(|(at, line)| {
        let shown = cut(line).trim();
        if shown == wanted {
            return Some((1.0, at, line));
        }
        if !may_be_alike(wanted, shown) {
            return Some((0.0, at, line));
        }
        left = left.checked_sub(wanted.len() * shown.len())?;
        Some((strsim::normalized_levenshtein(wanted, shown), at, line))
    });
    let is_nearer = |a: &(f64, usize, &str), b: &(f64, usize, &str)| {
        // Of equals the first.
        a.0.total_cmp(&b.0).then(match a.1 < b.1 {
            true => Ordering::Greater,
            false => Ordering::Less,
        })
    };
    match lines.max_by(is_nearer) {
        Some((likeness, at, line)) if likeness >= LEAST => {
            let line = clean_line(line, LONGEST_LINE);
            let number = at + 1;
            match likeness == 1.0 {
                true => format!(
                    "Its first line stands in line {number}, but what follows or the spaces \
                     around differ; read the file again"
                ),
                false => format!("The nearest is line {number}: `{line}`"),
            }
        }
        Some(_) | None => "Nothing there is like it; read the file again".to_owned(),
    }
}

/// Of what differs much in length less than the least is the same.
fn may_be_alike(one: &str, other: &str) -> bool {
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    shorter * 3 >= longer
}

fn cut(line: &str) -> &str {
    let end = line.char_indices().nth(LONGEST_LINE);
    end.map_or(line, |(at, _)| &line[..at])
}
