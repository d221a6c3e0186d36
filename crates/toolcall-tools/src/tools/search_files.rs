//! `search_files`: finds lines in files that contain a text or match a regular expression.
//! It follows no symlink, skips binary files, and shows no file that a rule denies.

mod query;
mod results;
mod searcher;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{Intent, PrepareContext, RunContext, Tool, ToolError, ToolResult, title};

use self::query::SearchQuery;
use self::results::SearchResults;
use self::searcher::FileSearcher;
use super::limit::ResultLimit;
use super::pattern::GlobPattern;
use super::walking::{WalkProgress, WalkRoot, open, run_blocking, shown};
use crate::local::Files;
use crate::local::tree::{Ignored, Kind, Passed, Walk};

const LONGEST_TITLE_PART: usize = 80;
/// The maximum number of context lines around a match.
const MOST_CONTEXT: usize = 10;

/// Searches the content of files.
pub struct SearchFiles {
    files: Arc<Files>,
    cut: ResultLimit,
}

impl SearchFiles {
    /// Creates the tool for the roots of `files`. Unsaved changes in an editor are not searched.
    pub fn new(files: Arc<Files>) -> Self {
        let cut = ResultLimit::default();
        Self { files, cut }
    }

    /// Sets how much of a long result to show.
    pub fn with_cut(mut self, cut: ResultLimit) -> Self {
        self.cut = cut;
        self
    }

    fn walk_root<'a>(&'a self, input: &'a SearchFilesInput) -> WalkRoot<'a> {
        WalkRoot {
            files: &self.files,
            path: input.path.as_deref(),
        }
    }
}

/// What `search_files` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchFilesInput {
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
    type Input = SearchFilesInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &SearchFilesInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        SearchQuery::new(input)?;
        let root = self.walk_root(input);
        let title = title::infer(Self::NAME, toolcall::Kind::Search, Some(look.input()));
        root.intent(look, toolcall::Kind::Search, title).await
    }

    async fn run(
        &self,
        input: SearchFilesInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let query = SearchQuery::new(&input)?;
        let path = self.walk_root(&input).resolve_allowed(scope).await?;
        let (files, cut) = (self.files.clone(), self.cut);
        let counts = WalkProgress::of("files searched");
        run_blocking(scope, &counts.clone(), move |scope| {
            let results = SearchResults::new(cut.items);
            let passed = search(&files, &path, &query, &results, scope, &counts)?;
            Ok(results.render(&query, &path, &passed, scope, cut))
        })
        .await
    }
}

fn search(
    files: &Files,
    path: &Path,
    query: &SearchQuery,
    results: &SearchResults,
    scope: &RunContext,
    counts: &WalkProgress,
) -> Result<Passed, ToolError> {
    let start = open(files, path)?;
    let is_cancelled = || scope.is_cancelled();
    let searcher = || FileSearcher::new(query, results, counts, &is_cancelled);
    if start.is_file() {
        let _either_way_it_was_the_only_one = start.visit_file(&mut searcher());
        return Ok(Passed::default());
    }
    let walk = Walk {
        ignored: Ignored::Hidden,
        depth: usize::MAX,
        wants: &|relative, kind| kind == Kind::File && query.includes(relative),
        admits: &|path| scope.may_read(path),
        is_cancelled: &is_cancelled,
    };
    let (_searchers, passed) = walk.run(&start, searcher);
    Ok(passed)
}
