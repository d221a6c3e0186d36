//! The results of a search: the first matches in path order, and the total count.
//! It keeps a limited number of lines, each of limited length.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use toolcall::text::{clean_block, clean_line};
use toolcall::{Location, RunContext, ToolResult};

use super::query::SearchQuery;
use super::searcher::MOST_MATCHES;
use super::{LONGEST_TITLE_PART, Passed, ResultLimit, shown};
use crate::tools::limit::BoundedLines;
use crate::tools::naming::counted;
use crate::tools::walking::{MOST_LOCATIONS, left_out};

/// How many bytes of a line to show.
const LONGEST_LINE: usize = 400;
/// How many of these to show before the match.
const LONGEST_PREFIX: usize = 120;

/// The kind of a line in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Match,
    Context,
    /// A separator between two groups of lines.
    Gap,
}

/// A line of the result.
#[derive(Debug)]
pub(super) struct ResultLine {
    pub(super) kind: LineKind,
    pub(super) number: u64,
    pub(super) text: String,
}

/// Collects the results of all threads.
#[derive(Debug)]
pub(super) struct SearchResults {
    most: usize,
    kept: Mutex<KeptMatches>,
    searched: AtomicU64,
    unreadable: AtomicU64,
}

/// The matches to show, and the counts.
#[derive(Debug, Default)]
struct KeptMatches {
    files: BTreeMap<PathBuf, Vec<ResultLine>>,
    /// The number of matches in `files`.
    shown: usize,
    searched: u64,
    matching: u64,
    matches: u64,
    unreadable: u64,
}

impl SearchResults {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            kept: Mutex::default(),
            searched: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
        }
    }

    /// Returns how many matches of a file may still be among those shown.
    pub(super) fn capacity(&self, path: &Path) -> usize {
        let kept = self.kept.lock();
        let is_full = kept.shown >= self.most;
        match kept.files.last_key_value() {
            Some((last, _)) if is_full && path > last => 0,
            Some(_) | None => self.most,
        }
    }

    /// Counts a searched file; one that failed counts as unreadable, too.
    pub(super) fn count_file<E>(&self, searched: &Result<(), E>) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        let unreadable = u64::from(searched.is_err());
        self.unreadable.fetch_add(unreadable, Ordering::Relaxed);
    }

    /// Adds the number of matches in a file, and the lines of it to show.
    pub(super) fn add(&self, path: &Path, lines: Vec<ResultLine>, matches: u64) {
        let mut kept = self.kept.lock();
        kept.matching += 1;
        kept.matches += matches;
        if !lines.is_empty() {
            kept.shown += count(&lines);
            kept.files.insert(path.to_owned(), lines);
            kept.drop_last(self.most);
        }
    }

    /// Returns the results as text and as structured content.
    pub(super) fn render(
        self,
        query: &SearchQuery,
        place: &Path,
        passed: &Passed,
        scope: &RunContext,
        cut: ResultLimit,
    ) -> ToolResult {
        let mut kept = self.kept.into_inner();
        kept.searched = self.searched.into_inner();
        kept.unreadable = self.unreadable.into_inner();
        let mut heading = kept.heading(query, &shown(place, scope));
        heading.push_str(&left_out(passed));
        let mut page = ResultPage::new(heading, query.context, cut);
        for (path, lines) in &kept.files {
            page.add_file(&shown(path, scope), lines);
        }
        if kept.matches > 0 {
            scope.locate(kept.locations());
        }
        let is_stopped = kept.matches >= MOST_MATCHES || passed.too_many;
        page.finish(&kept, is_stopped)
    }
}

impl KeptMatches {
    /// Drops the last files while the rest has enough matches.
    fn drop_last(&mut self, most: usize) {
        while let Some(last) = self.files.last_entry() {
            let without = self.shown - count(last.get());
            if without < most {
                break;
            }
            last.remove();
            self.shown = without;
        }
    }

    /// Returns the locations of the kept matches.
    fn locations(&self) -> Vec<Location> {
        let is_match = |line: &&ResultLine| line.kind == LineKind::Match;
        let files = self.files.iter();
        let lines = files.flat_map(|(path, lines)| {
            let lines = lines.iter().filter(is_match);
            lines.map(move |line| (path, u32::try_from(line.number).unwrap_or(u32::MAX)))
        });
        lines
            .map(|(path, line)| Location::line(path, line))
            .take(MOST_LOCATIONS)
            .collect()
    }

    fn heading(&self, query: &SearchQuery, place: &str) -> String {
        let text = clean_line(&query.text, LONGEST_TITLE_PART);
        let searched = counted(self.searched, "file", "files");
        let mut heading = match self.matches {
            0 => format!(
                "No line in {place} matches `{text}` ({searched} searched; hidden, ignored and binary files are left out).{}",
                query.advice()
            ),
            MOST_MATCHES.. => format!(
                "More than {MOST_MATCHES} lines in {place} match `{text}`, so the search was stopped; say more in the query."
            ),
            matches => format!(
                "{} `{text}` in {} ({searched} searched in {place}).",
                counted(matches, "line matches", "lines match"),
                counted(self.matching, "file", "files")
            ),
        };
        if self.unreadable > 0 {
            let unreadable = counted(self.unreadable, "file", "files");
            heading.push_str(&format!(" {unreadable} could not be read to the end."));
        }
        heading
    }
}

fn count(lines: &[ResultLine]) -> usize {
    lines
        .iter()
        .filter(|line| line.kind == LineKind::Match)
        .count()
}

/// The text of the result, up to its limits.
struct ResultPage {
    /// The number of context lines around a match.
    context: usize,
    lines: BoundedLines,
    matches: Vec<Value>,
    most: usize,
    is_full: bool,
}

impl ResultPage {
    fn new(heading: String, context: usize, cut: ResultLimit) -> Self {
        Self {
            context,
            lines: BoundedLines::new(heading, cut),
            matches: Vec::new(),
            most: cut.items,
            is_full: false,
        }
    }

    fn add_file(&mut self, path: &str, lines: &[ResultLine]) {
        if self.context > 0 && !self.matches.is_empty() {
            self.push("--");
        }
        for line in lines {
            let ResultLine { number, text, .. } = line;
            match line.kind {
                LineKind::Gap => self.push("--"),
                LineKind::Context => self.push(&format!("{path}-{number}- {text}")),
                LineKind::Match => self.add_match(path, line),
            }
        }
    }

    fn add_match(&mut self, path: &str, ResultLine { number, text, .. }: &ResultLine) {
        self.is_full |= self.matches.len() >= self.most;
        self.push(&format!("{path}:{number}: {text}"));
        if !self.is_full {
            let found = json!({"path": path, "line": number, "text": text});
            self.matches.push(found);
        }
    }

    /// Adds a line. After the first line that does not fit, nothing is added.
    fn push(&mut self, line: &str) {
        self.is_full = self.is_full || !self.lines.push(line);
    }

    fn finish(self, kept: &KeptMatches, is_stopped: bool) -> ToolResult {
        let (mut text, shown) = (self.lines.text, self.matches.len());
        let is_cut = (shown as u64) < kept.matches;
        if is_cut {
            text.push_str(&format!(
                "\n({shown} of {} matching lines are shown; a longer query, `includePattern` or a `path` further down finds fewer)",
                kept.matches
            ));
        }
        ToolResult::from(text).structured(json!({
            "matches": self.matches,
            "totalMatches": kept.matches,
            "totalFiles": kept.matching,
            "filesSearched": kept.searched,
            "truncated": is_cut || is_stopped,
        }))
    }
}

/// Returns a line as text: all of it, or the part around the match at byte `at`.
pub(super) fn excerpt(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST_LINE {
        return visible(line);
    }
    let begin = at.min(line.len()).saturating_sub(LONGEST_PREFIX);
    let begin = begin.min(line.len() - LONGEST_LINE);
    let begin = boundary(line, begin);
    let end = boundary(line, begin + LONGEST_LINE);
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let (before, after) = (cut(begin > 0), cut(end < line.len()));
    format!("{before}{}{after}", visible(&line[begin..end]))
}

/// Returns the next character boundary. In bytes that are not UTF-8, any index will do.
fn boundary(line: &[u8], at: usize) -> usize {
    let is_within = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let places = at.min(line.len())..line.len().min(at + 4);
    places
        .into_iter()
        .find(|at| !is_within(at))
        .unwrap_or(at.min(line.len()))
}

fn visible(bytes: &[u8]) -> String {
    clean_block(&String::from_utf8_lossy(bytes))
}
