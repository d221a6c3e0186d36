//! What is searched for: the matcher, the files it is for, and the lines around a match.
//! It reads nothing.

use std::path::Path;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use toolcall::ToolError;

use super::{Input, MOST_CONTEXT, Pattern};

/// A regular expression may take this much memory when it is compiled, and while it is used.
const LARGEST: usize = 10 * 1024 * 1024;
/// A file with a longer line is not searched to its end.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// What means something in a regular expression and is rare otherwise.
const SPECIAL: [&str; 6] = ["|", ".*", ".+", "\\", "[", "^"];

/// How a query is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Plain,
    Regex,
}

/// A query that is ready to be used by any thread.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) matcher: RegexMatcher,
    syntax: Syntax,
    include: Option<Pattern>,
    pub(super) context: usize,
}

impl Query {
    pub(super) fn new(input: &Input) -> Result<Self, ToolError> {
        if input.query.is_empty() {
            return Err(ToolError::new(
                "the query is empty; say what to look for, or use find_path to find files by name",
            ));
        }
        let syntax = match input.regex {
            Some(true) => Syntax::Regex,
            Some(false) | None => Syntax::Plain,
        };
        let include = input.include_pattern.as_deref().map(Pattern::new);
        Ok(Self {
            text: input.query.clone(),
            matcher: matcher(&input.query, syntax)?,
            syntax,
            include: include.transpose()?,
            context: input.context.unwrap_or(0).min(MOST_CONTEXT),
        })
    }

    pub(super) fn includes(&self, relative: &Path) -> bool {
        let pattern = self.include.as_ref();
        pattern.is_none_or(|pattern| pattern.matches(relative))
    }

    /// A searcher for one thread, which keeps its buffers from file to file.
    pub(super) fn searcher(&self) -> Searcher {
        let mut builder = SearcherBuilder::new();
        builder
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LONGEST_LINE))
            .before_context(self.context)
            .after_context(self.context);
        if let Some(terminator) = self.matcher.line_terminator() {
            builder.line_terminator(terminator);
        }
        builder.build()
    }

    /// Advice for one who found nothing.
    pub(super) fn advice(&self) -> &'static str {
        let is_special = || SPECIAL.iter().any(|special| self.text.contains(special));
        match self.syntax {
            Syntax::Plain if is_special() => {
                " The query was taken as plain text; set `regex` to true for a regular expression."
            }
            Syntax::Plain | Syntax::Regex => "",
        }
    }
}

fn matcher(text: &str, syntax: Syntax) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .line_terminator(Some(b'\n'))
        .crlf(true)
        .multi_line(true)
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST)
        .fixed_strings(syntax == Syntax::Plain);
    builder
        .build(text)
        .map_err(|error| refusal(text, syntax, &error))
}

fn refusal(text: &str, syntax: Syntax, error: &grep_regex::Error) -> ToolError {
    if text.contains(['\n', '\r']) {
        return ToolError::new(
            "the query contains a line break, and single lines are searched; search for one of its lines",
        );
    }
    ToolError::new(match syntax {
        Syntax::Regex => format!(
            "the query is no valid regular expression: {error}; correct it, or set `regex` to false for plain text"
        ),
        Syntax::Plain => format!("the query cannot be used: {error}"),
    })
}
