//! `search_files`: lines of files that contain a text or match a regular expression.
//! It follows no link, reads no binary file to its end, and shows no line that may not be read.

mod hits;
mod query;
mod reading;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{Intent, PrepareContext, RunContext, Tool, ToolError, ToolResult, title};

use self::hits::Hits;
use self::query::Query;
use self::reading::Seeker;
use super::cut::Cut;
use super::pattern::Pattern;
use super::walking::{Counts, Place, off_the_runtime, open, shown};
use crate::local::Files;
use crate::local::tree::{Ignored, Kind, Passed, Walk};

const LONGEST_IN_A_TITLE: usize = 80;
/// More lines than this around a match are better read in the file.
const MOST_CONTEXT: usize = 10;

/// Searches the content of files.
pub struct SearchFiles {
    files: Arc<Files>,
    cut: Cut,
}

impl SearchFiles {
    /// Searches beneath the roots of these files. What an editor has not saved is not seen.
    pub fn new(files: Arc<Files>) -> Self {
        let cut = Cut::default();
        Self { files, cut }
    }

    /// Shows this much of a long result.
    pub fn with_cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }

    fn place<'a>(&'a self, input: &'a Input) -> Place<'a> {
        Place {
            files: &self.files,
            path: input.path.as_deref(),
        }
    }
}

/// What `search_files` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// What to look for in single lines: plain text, or a regular expression if `regex` is true. Upper and lower case differ.
    query: String,
    /// The folder or file to search; the session's folder by default.
    path: Option<PathBuf>,
    /// Searches only files that match this glob, such as `*.rs` or `src/**/*.{js,ts}`. Without a slash it matches names at any depth; with one, paths from the folder that is searched.
    include_pattern: Option<String>,
    /// Whether the query is a regular expression (Rust's syntax); by default it is plain text.
    regex: Option<bool>,
    /// How many lines to show before and after each match; none by default.
    #[schemars(range(max = 10))]
    context: Option<usize>,
}

impl Tool for SearchFiles {
    const NAME: &'static str = "search_files";
    const DESCRIPTION: &'static str = "Searches the content of files and shows the matching lines as `path:line: text`, \
        sorted by path; lines of `context` are shown as `path-line- text`. The query is plain text unless `regex` is true. \
        Binary files, names that begin with a dot and those that `.gitignore` or `.ignore` files name are left out, \
        unless `path` is such a folder or file. Links are not followed.";
    const ALIASES: &'static [&'static str] = &["grep", "search_in_files"];
    const KIND: Option<toolcall::Kind> = Some(toolcall::Kind::Search);
    type Input = Input;
    type Output = ToolResult;

    async fn prepare(&self, input: &Input, look: &PrepareContext) -> Result<Intent, ToolError> {
        Query::new(input)?;
        let place = self.place(input);
        let title = title::infer(Self::NAME, toolcall::Kind::Search, Some(look.input()));
        place.intent(look, toolcall::Kind::Search, title).await
    }

    async fn run(&self, input: Input, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let query = Query::new(&input)?;
        let path = self.place(&input).reach(scope).await?;
        let (files, cut) = (self.files.clone(), self.cut);
        let counts = Counts::of("files searched");
        off_the_runtime(scope, &counts.clone(), move |scope| {
            let hits = Hits::new(cut.items);
            let passed = search(&files, &path, &query, &hits, scope, &counts)?;
            Ok(hits.render(&query, &path, &passed, scope, cut))
        })
        .await
    }
}

fn search(
    files: &Files,
    path: &Path,
    query: &Query,
    hits: &Hits,
    scope: &RunContext,
    counts: &Counts,
) -> Result<Passed, ToolError> {
    let start = open(files, path)?;
    let is_cancelled = || scope.is_cancelled();
    let seeker = || Seeker::new(query, hits, counts, &is_cancelled);
    if start.is_file() {
        let _either_way_it_was_the_only_one = start.visit_file(&mut seeker());
        return Ok(Passed::default());
    }
    let walk = Walk {
        ignored: Ignored::Hidden,
        depth: usize::MAX,
        wants: &|relative, kind| kind == Kind::File && query.includes(relative),
        admits: &|path| scope.may_read(path),
        is_cancelled: &is_cancelled,
    };
    let (_seekers, passed) = walk.run(&start, seeker);
    Ok(passed)
}
