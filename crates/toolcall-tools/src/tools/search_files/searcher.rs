//! Searches the files of one thread: small files in memory, others as a stream.
//! It opens only files that the walk found.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use grep_matcher::Matcher as _;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::WalkProgress;
use super::query::SearchQuery;
use super::results::{LineKind, ResultLine, SearchResults, excerpt};
use crate::local::tree::{Found, Visitor};

/// A file up to this size is read into memory and searched as a whole.
const SMALL: usize = 64 * 1024;
/// The search stops after this many matches.
pub(super) const MOST_MATCHES: u64 = 1_000_000;

/// Searches files on one thread.
pub(super) struct FileSearcher<'a> {
    query: &'a SearchQuery,
    results: &'a SearchResults,
    counts: &'a WalkProgress,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
    searcher: Searcher,
    buffer: Vec<u8>,
}

impl<'a> FileSearcher<'a> {
    pub(super) fn new(
        query: &'a SearchQuery,
        results: &'a SearchResults,
        counts: &'a WalkProgress,
        is_cancelled: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self {
            query,
            results,
            counts,
            is_cancelled,
            searcher: query.searcher(),
            buffer: vec![0; SMALL + 1],
        }
    }

    fn search(&mut self, found: &Found<'_>, sink: &mut MatchCollector<'_>) -> io::Result<()> {
        let (file, size) = found.open()?;
        let matcher = &self.query.matcher;
        let head = head(&file, size, &mut self.buffer)?;
        if head.len() <= SMALL {
            return self.searcher.search_slice(matcher, head, sink);
        }
        let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        let text = TextReader {
            file,
            is_cancelled: self.is_cancelled,
            nul: if is_wide {
                NulHandling::IsText
            } else {
                NulHandling::EndsText
            },
        };
        if !is_wide && memchr::memchr(0, head).is_some() {
            return Ok(());
        }
        let whole = head.chain(text);
        self.searcher.search_reader(matcher, whole, sink)
    }
}

impl Visitor for FileSearcher<'_> {
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        let mut sink = MatchCollector::new(self.query, self.results, found);
        let searched = self.search(found, &mut sink);
        let MatchCollector { lines, matches, .. } = sink;
        self.results.count_file(&searched);
        self.counts.seen.fetch_add(1, Relaxed);
        if matches == 0 {
            return ControlFlow::Continue(());
        }
        self.results.add(found.path, lines, matches);
        let so_far = self.counts.hits.fetch_add(matches, Relaxed) + matches;
        if so_far >= MOST_MATCHES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Reads the beginning of a file: all of a small file, or one byte more than that.
fn head<'b>(mut file: &File, size: u64, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    // When a file has yielded its stated size, no further read is needed to see its end. A file with the
    // stated size 0, or one that grew, is read until its end.
    let expected = usize::try_from(size).ok().filter(|size| *size > 0);
    let mut held = 0;
    while held < buffer.len() && Some(held) != expected {
        match file.read(&mut buffer[held..])? {
            0 => break,
            read => held += read,
        }
    }
    Ok(&buffer[..held])
}

/// What a NUL byte means in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NulHandling {
    /// It ends the text: the rest is binary.
    EndsText,
    /// It was found, so the text has ended.
    Reached,
    /// It is part of a UTF-16 character.
    IsText,
}

/// Reads the rest of a large file until the call is cancelled. It ends at the first NUL, so that the matches do not
/// depend on the size of the reads.
struct TextReader<'a> {
    file: File,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
    nul: NulHandling,
}

impl Read for TextReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.is_cancelled)() {
            return Err(io::Error::other("cancelled"));
        }
        match self.nul {
            NulHandling::Reached => Ok(0),
            NulHandling::IsText => self.file.read(buffer),
            NulHandling::EndsText => {
                let read = self.file.read(buffer)?;
                Ok(self.end_of_text(&buffer[..read]))
            }
        }
    }
}

impl TextReader<'_> {
    fn end_of_text(&mut self, bytes: &[u8]) -> usize {
        let nul = memchr::memchr(0, bytes);
        if nul.is_some() {
            self.nul = NulHandling::Reached;
        }
        nul.unwrap_or(bytes.len())
    }
}

/// Collects the matches of one file.
struct MatchCollector<'a> {
    query: &'a SearchQuery,
    results: &'a SearchResults,
    found: &'a Found<'a>,
    lines: Vec<ResultLine>,
    matches: u64,
    /// How many matches to keep, computed at the first match.
    capacity: Option<usize>,
}

impl<'a> MatchCollector<'a> {
    fn new(query: &'a SearchQuery, results: &'a SearchResults, found: &'a Found<'a>) -> Self {
        Self {
            query,
            results,
            found,
            lines: Vec::new(),
            matches: 0,
            capacity: None,
        }
    }

    fn has_capacity_for(&mut self, matches: u64) -> bool {
        let (results, path) = (self.results, self.found.path);
        let capacity = *self.capacity.get_or_insert_with(|| results.capacity(path));
        matches <= capacity as u64
    }

    fn keep(&mut self, kind: LineKind, number: Option<u64>, text: &[u8]) {
        let at = match kind {
            LineKind::Match => self.query.matcher.find(text).ok().flatten(),
            LineKind::Context | LineKind::Gap => None,
        };
        self.lines.push(ResultLine {
            kind,
            number: number.unwrap_or(0),
            text: excerpt(text, at.map_or(0, |at| at.start())),
        });
    }
}

impl Sink for MatchCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        if self.has_capacity_for(self.matches) {
            self.keep(LineKind::Match, found.line_number(), found.bytes());
        }
        Ok(self.matches < MOST_MATCHES)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let belongs_to = match found.kind() {
            SinkContextKind::Before => self.matches + 1,
            SinkContextKind::After | SinkContextKind::Other => self.matches,
        };
        if self.has_capacity_for(belongs_to) {
            self.keep(LineKind::Context, found.line_number(), found.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.has_capacity_for(self.matches + 1) {
            self.keep(LineKind::Gap, None, b"");
        }
        Ok(true)
    }
}
