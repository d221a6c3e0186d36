//! One thread that searches files: small ones in one piece, others line by line as they are read.
//! It opens what a walk found and nothing else.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use grep_matcher::Matcher as _;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::Counts;
use super::hits::{Hits, Line, Mark, excerpt};
use super::query::Query;
use crate::local::tree::{Found, Visitor};

/// A file of this size is looked at for binary data as a whole, however it is read.
const SMALL: usize = 64 * 1024;
/// So many matches are counted; who finds more needs another query.
pub(super) const MOST_MATCHES: u64 = 1_000_000;

/// One thread of a search.
pub(super) struct Seeker<'a> {
    query: &'a Query,
    hits: &'a Hits,
    counts: &'a Counts,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
    searcher: Searcher,
    buffer: Vec<u8>,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(
        query: &'a Query,
        hits: &'a Hits,
        counts: &'a Counts,
        is_cancelled: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self {
            query,
            hits,
            counts,
            is_cancelled,
            searcher: query.searcher(),
            buffer: vec![0; SMALL + 1],
        }
    }

    fn search(&mut self, found: &Found<'_>, sink: &mut Collector<'_>) -> io::Result<()> {
        let (file, size) = found.open()?;
        let matcher = &self.query.matcher;
        let head = head(&file, size, &mut self.buffer)?;
        if head.len() <= SMALL {
            return self.searcher.search_slice(matcher, head, sink);
        }
        let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        let text = Text {
            file,
            is_cancelled: self.is_cancelled,
            nul: if is_wide { Nul::IsText } else { Nul::Ends },
        };
        if !is_wide && memchr::memchr(0, head).is_some() {
            return Ok(());
        }
        let whole = head.chain(text);
        self.searcher.search_reader(matcher, whole, sink)
    }
}

impl Visitor for Seeker<'_> {
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        let mut sink = Collector::new(self.query, self.hits, found);
        let searched = self.search(found, &mut sink);
        let Collector { lines, matches, .. } = sink;
        self.hits.count_file(&searched);
        self.counts.seen.fetch_add(1, Relaxed);
        if matches == 0 {
            return ControlFlow::Continue(());
        }
        self.hits.add(found.path, lines, matches);
        let so_far = self.counts.hits.fetch_add(matches, Relaxed) + matches;
        if so_far >= MOST_MATCHES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The beginning of a file: more than what is small, or all of it.
fn head<'b>(mut file: &File, size: u64, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    // A small file that has as much as it said needs no other read to show its end. One that says
    // nothing, or grew, is read until it ends.
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

/// What a NUL is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nul {
    /// The end of the text and the beginning of something else.
    Ends,
    /// It was met.
    Ended,
    /// Half of a character.
    IsText,
}

/// The rest of a long text, read as long as somebody waits for it. It ends at the first NUL, so that what is found does
/// not depend on how much is read at a time.
struct Text<'a> {
    file: File,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
    nul: Nul,
}

impl Read for Text<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.is_cancelled)() {
            return Err(io::Error::other("cancelled"));
        }
        match self.nul {
            Nul::Ended => Ok(0),
            Nul::IsText => self.file.read(buffer),
            Nul::Ends => {
                let read = self.file.read(buffer)?;
                Ok(self.end_of_text(&buffer[..read]))
            }
        }
    }
}

impl Text<'_> {
    fn end_of_text(&mut self, bytes: &[u8]) -> usize {
        let nul = memchr::memchr(0, bytes);
        if nul.is_some() {
            self.nul = Nul::Ended;
        }
        nul.unwrap_or(bytes.len())
    }
}

/// The matches of one file.
struct Collector<'a> {
    query: &'a Query,
    hits: &'a Hits,
    found: &'a Found<'a>,
    lines: Vec<Line>,
    matches: u64,
    /// How many matches are kept, once that is known.
    room: Option<usize>,
}

impl<'a> Collector<'a> {
    fn new(query: &'a Query, hits: &'a Hits, found: &'a Found<'a>) -> Self {
        Self {
            query,
            hits,
            found,
            lines: Vec::new(),
            matches: 0,
            room: None,
        }
    }

    fn has_room_for(&mut self, matches: u64) -> bool {
        let (hits, path) = (self.hits, self.found.path);
        let room = *self.room.get_or_insert_with(|| hits.room(path));
        matches <= room as u64
    }

    fn keep(&mut self, mark: Mark, number: Option<u64>, text: &[u8]) {
        let at = match mark {
            Mark::Match => self.query.matcher.find(text).ok().flatten(),
            Mark::Context | Mark::Gap => None,
        };
        self.lines.push(Line {
            mark,
            number: number.unwrap_or(0),
            text: excerpt(text, at.map_or(0, |at| at.start())),
        });
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        if self.has_room_for(self.matches) {
            self.keep(Mark::Match, found.line_number(), found.bytes());
        }
        Ok(self.matches < MOST_MATCHES)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let belongs_to = match found.kind() {
            SinkContextKind::Before => self.matches + 1,
            SinkContextKind::After | SinkContextKind::Other => self.matches,
        };
        if self.has_room_for(belongs_to) {
            self.keep(Mark::Context, found.line_number(), found.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.has_room_for(self.matches + 1) {
            self.keep(Mark::Gap, None, b"");
        }
        Ok(true)
    }
}
