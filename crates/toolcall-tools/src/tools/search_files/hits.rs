//! What a search found: the first matches in the order of paths, and how many there are in all.
//! It keeps a bounded number of lines, each cut to a length that can be read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use toolcall::text::{clean_block, clean_line};
use toolcall::{Location, RunContext, ToolResult};

use super::query::Query;
use super::reading::MOST_MATCHES;
use super::{Cut, LONGEST_IN_A_TITLE, Passed, shown};
use crate::tools::cut::Lines;
use crate::tools::naming::counted;
use crate::tools::walking::{MOST_LOCATIONS, left_out};

/// How much of a line is shown, in bytes.
const LONGEST_LINE: usize = 400;
/// How much of that is before the match.
const BEFORE_THE_MATCH: usize = 120;

/// What a line is in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Match,
    Context,
    /// Between two groups of lines.
    Gap,
}

/// A line that is shown.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) mark: Mark,
    pub(super) number: u64,
    pub(super) text: String,
}

/// What all threads found.
#[derive(Debug)]
pub(super) struct Hits {
    most: usize,
    kept: Mutex<Kept>,
    searched: AtomicU64,
    unreadable: AtomicU64,
}

#[derive(Debug, Default)]
struct Kept {
    files: BTreeMap<PathBuf, Vec<Line>>,
    /// How many matches are in these.
    shown: usize,
    searched: u64,
    matching: u64,
    matches: u64,
    unreadable: u64,
}

impl Hits {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            kept: Mutex::default(),
            searched: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
        }
    }

    /// How many matches of a file may be among the first.
    pub(super) fn room(&self, path: &Path) -> usize {
        let kept = self.kept.lock();
        let is_full = kept.shown >= self.most;
        match kept.files.last_key_value() {
            Some((last, _)) if is_full && path > last => 0,
            Some(_) | None => self.most,
        }
    }

    /// A file was searched, to its end or not.
    pub(super) fn count_file<E>(&self, searched: &Result<(), E>) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        let unreadable = u64::from(searched.is_err());
        self.unreadable.fetch_add(unreadable, Ordering::Relaxed);
    }

    /// The matches of a file, and those lines of it that may be shown.
    pub(super) fn add(&self, path: &Path, lines: Vec<Line>, matches: u64) {
        let mut kept = self.kept.lock();
        kept.matching += 1;
        kept.matches += matches;
        if !lines.is_empty() {
            kept.shown += count(&lines);
            kept.files.insert(path.to_owned(), lines);
            kept.drop_last(self.most);
        }
    }

    /// The text for the model and the values for programs.
    pub(super) fn render(
        self,
        query: &Query,
        place: &Path,
        passed: &Passed,
        scope: &RunContext,
        cut: Cut,
    ) -> ToolResult {
        let mut kept = self.kept.into_inner();
        kept.searched = self.searched.into_inner();
        kept.unreadable = self.unreadable.into_inner();
        let mut heading = kept.heading(query, &shown(place, scope));
        heading.push_str(&left_out(passed));
        let mut page = Page::new(heading, query.context, cut);
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

impl Kept {
    /// What is not among the first any more goes.
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

    /// Where the lines are that match, as far as they are kept.
    fn locations(&self) -> Vec<Location> {
        let is_match = |line: &&Line| line.mark == Mark::Match;
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

    fn heading(&self, query: &Query, place: &str) -> String {
        let text = clean_line(&query.text, LONGEST_IN_A_TITLE);
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

fn count(lines: &[Line]) -> usize {
    lines.iter().filter(|line| line.mark == Mark::Match).count()
}

/// What is shown of the result.
struct Page {
    /// How many lines around a match were asked for.
    context: usize,
    lines: Lines,
    matches: Vec<Value>,
    most: usize,
    is_full: bool,
}

impl Page {
    fn new(heading: String, context: usize, cut: Cut) -> Self {
        Self {
            context,
            lines: Lines::new(heading, cut),
            matches: Vec::new(),
            most: cut.items,
            is_full: false,
        }
    }

    fn add_file(&mut self, path: &str, lines: &[Line]) {
        if self.context > 0 && !self.matches.is_empty() {
            self.push("--");
        }
        for line in lines {
            let Line { number, text, .. } = line;
            match line.mark {
                Mark::Gap => self.push("--"),
                Mark::Context => self.push(&format!("{path}-{number}- {text}")),
                Mark::Match => self.add_match(path, line),
            }
        }
    }

    fn add_match(&mut self, path: &str, Line { number, text, .. }: &Line) {
        self.is_full |= self.matches.len() >= self.most;
        self.push(&format!("{path}:{number}: {text}"));
        if !self.is_full {
            let found = json!({"path": path, "line": number, "text": text});
            self.matches.push(found);
        }
    }

    /// After the first line that does not fit nothing is shown.
    fn push(&mut self, line: &str) {
        self.is_full = self.is_full || !self.lines.push(line);
    }

    fn finish(self, kept: &Kept, is_stopped: bool) -> ToolResult {
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

/// What is shown of a line: all of it, or what is around the match.
pub(super) fn excerpt(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST_LINE {
        return visible(line);
    }
    let begin = at.min(line.len()).saturating_sub(BEFORE_THE_MATCH);
    let begin = begin.min(line.len() - LONGEST_LINE);
    let begin = boundary(line, begin);
    let end = boundary(line, begin + LONGEST_LINE);
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let (before, after) = (cut(begin > 0), cut(end < line.len()));
    format!("{before}{}{after}", visible(&line[begin..end]))
}

/// The next place that is not within a character. In what is no text any place is as good.
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
