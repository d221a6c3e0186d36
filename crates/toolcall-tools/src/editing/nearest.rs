//! Finds the line most similar to a text that an edit did not find, for the error message.
//! Its work is bounded, and it changes nothing.

use std::cmp::Ordering;

use toolcall::text::clean_line;

/// Only this many characters of a line are compared.
const MAX_LINE_CHARS: usize = 200;
/// How many pairs of characters are compared in all, which takes a fraction of a second.
const MAX_COMPARISONS: usize = 8_000_000;
/// A line less similar than this is not suggested.
const MIN_SIMILARITY: f64 = 0.5;

/// Returns a sentence that names the line most similar to the first line of `wanted`.
pub(super) fn nearest_line_hint(text: &str, wanted: &str) -> String {
    let first = wanted.lines().find(|line| !line.trim().is_empty());
    let wanted = truncated(first.unwrap_or_default()).trim();
    let mut budget = MAX_COMPARISONS;
    let lines = text.lines().enumerate().map_while(|(at, line)| {
        let shown = truncated(line).trim();
        if shown == wanted {
            return Some((1.0, at, line));
        }
        if !have_similar_length(wanted, shown) {
            return Some((0.0, at, line));
        }
        budget = budget.checked_sub(wanted.len() * shown.len())?;
        Some((strsim::normalized_levenshtein(wanted, shown), at, line))
    });
    let is_nearer = |a: &(f64, usize, &str), b: &(f64, usize, &str)| {
        // Of equally similar lines, the first.
        a.0.total_cmp(&b.0).then(if a.1 < b.1 {
            Ordering::Greater
        } else {
            Ordering::Less
        })
    };
    match lines.max_by(is_nearer) {
        Some((similarity, at, line)) if similarity >= MIN_SIMILARITY => {
            let line = clean_line(line, MAX_LINE_CHARS);
            let number = at + 1;
            if similarity == 1.0 {
                format!(
                    "Its first line stands in line {number}, but what follows or the spaces \
                     around differ; read the file again"
                )
            } else {
                format!("The nearest is line {number}: `{line}`")
            }
        }
        Some(_) | None => "Nothing there is like it; read the file again".to_owned(),
    }
}

/// Whether two lines are close enough in length to reach the minimum similarity.
fn have_similar_length(one: &str, other: &str) -> bool {
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    shorter * 3 >= longer
}

fn truncated(line: &str) -> &str {
    let end = line.char_indices().nth(MAX_LINE_CHARS);
    end.map_or(line, |(at, _)| &line[..at])
}
