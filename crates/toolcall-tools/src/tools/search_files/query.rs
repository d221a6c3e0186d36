//! A compiled search query: the matcher, the file pattern and the number of context lines.
//! It reads no file.

use std::path::Path;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use toolcall::ToolError;

use super::{GlobPattern, MOST_CONTEXT, SearchFilesInput};

/// The memory limit of a regular expression, when it is compiled and while it is used.
const LARGEST: usize = 10 * 1024 * 1024;
/// The search of a file stops at a longer line.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// Characters that are common in regular expressions and rare in plain text.
const SPECIAL: [&str; 6] = ["|", ".*", ".+", "\\", "[", "^"];

/// The syntax of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuerySyntax {
    Plain,
    Regex,
}

/// A compiled query, which threads share.
#[derive(Clone, Debug)]
pub(super) struct SearchQuery {
    pub(super) text: String,
    pub(super) matcher: RegexMatcher,
    syntax: QuerySyntax,
    include: Option<GlobPattern>,
    pub(super) context: usize,
}

impl SearchQuery {
    pub(super) fn new(input: &SearchFilesInput) -> Result<Self, ToolError> {
        if input.query.is_empty() {
            return Err(ToolError::new(
                "the query is empty; say what to look for, or use find_path to find files by name",
            ));
        }
        let syntax = match input.regex {
            Some(true) => QuerySyntax::Regex,
            Some(false) | None => QuerySyntax::Plain,
        };
        let include = input.include_pattern.as_deref().map(GlobPattern::new);
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

    /// Creates a searcher for one thread, which reuses its buffers for all files.
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

    /// Returns advice for a search without matches.
    pub(super) fn advice(&self) -> &'static str {
        let is_special = || SPECIAL.iter().any(|special| self.text.contains(special));
        match self.syntax {
            QuerySyntax::Plain if is_special() => {
                " The query was taken as plain text; set `regex` to true for a regular expression."
            }
            QuerySyntax::Plain | QuerySyntax::Regex => "",
        }
    }
}

fn matcher(text: &str, syntax: QuerySyntax) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .line_terminator(Some(b'\n'))
        .crlf(true)
        .multi_line(true)
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST)
        .fixed_strings(syntax == QuerySyntax::Plain);
    builder
        .build(text)
        .map_err(|error| refusal(text, syntax, &error))
}

fn refusal(text: &str, syntax: QuerySyntax, error: &grep_regex::Error) -> ToolError {
    if text.contains(['\n', '\r']) {
        return ToolError::new(
            "the query contains a line break, and single lines are searched; search for one of its lines",
        );
    }
    ToolError::new(match syntax {
        QuerySyntax::Regex => format!(
            "the query is no valid regular expression: {error}; correct it, or set `regex` to false for plain text"
        ),
        QuerySyntax::Plain => format!("the query cannot be used: {error}"),
    })
}
