//! `find_path`: lists files and directories whose path matches a glob pattern, the newest first.
//! It reads no file and follows no symlink.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcall::text::clean_line;
use toolcall::{
    Intent, Location, PrepareContext, RunContext, Sketch, Tool, ToolError, ToolResult, arguments,
};

use super::limit::{BoundedLines, ResultLimit, SmallestItems};
use super::naming::counted;
use super::pattern::GlobPattern;
use super::walking::{
    MOST_LOCATIONS, WalkProgress, WalkRoot, left_out, open_directory, run_blocking, shown,
};
use crate::local::Files;
use crate::local::tree::{Found, Ignored, Kind, Passed, Visitor, Walk};

const LONGEST_TITLE_PART: usize = 80;

/// Finds files and directories by a glob pattern.
pub struct FindPath {
    files: Arc<Files>,
    cut: ResultLimit,
}

impl FindPath {
    /// Creates the tool for paths beneath the roots of `files`.
    pub fn new(files: Arc<Files>) -> Self {
        let cut = ResultLimit::default();
        Self { files, cut }
    }

    /// Sets how much of a long result to show.
    pub fn with_cut(mut self, cut: ResultLimit) -> Self {
        self.cut = cut;
        self
    }

    fn walk_root<'a>(&'a self, input: &'a FindPathInput) -> WalkRoot<'a> {
        WalkRoot {
            files: &self.files,
            path: input.path.as_deref(),
        }
    }
}

/// What `find_path` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindPathInput {
    /// A glob such as `*.rs`, `src/**/test_*.py` or `**/{a,b}/*`. Without a slash it matches names at any depth; with one, paths from the folder that is searched.
    pattern: String,
    /// The folder to search; the session's folder by default.
    path: Option<PathBuf>,
}

impl Tool for FindPath {
    const NAME: &'static str = "find_path";
    const DESCRIPTION: &'static str = "Finds files and folders by a glob pattern, the most recently changed first. \
        Folders end in `/`, links in `@`; links are not followed. Names that begin with a dot and those that \
        `.gitignore` or `.ignore` files name are left out, unless `path` is such a folder.";
    const KIND: Option<toolcall::Kind> = Some(toolcall::Kind::Search);
    type Input = FindPathInput;
    type Output = ToolResult;

    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let pattern = partial.get("pattern")?.as_str()?;
        let title = match partial.get("path").and_then(Value::as_str) {
            Some(path) => format!("Find \"{pattern}\" in {path}"),
            None => format!("Find \"{pattern}\""),
        };
        Some(Sketch {
            title,
            kind: toolcall::Kind::Search,
            locations: arguments::locations(Some(partial)),
        })
    }

    async fn prepare(
        &self,
        input: &FindPathInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        GlobPattern::new(&input.pattern)?;
        let root = self.walk_root(input);
        let pattern = clean_line(&input.pattern, LONGEST_TITLE_PART);
        let title = match &input.path {
            Some(_) => format!("Find \"{pattern}\" in {}", root.in_title()),
            None => format!("Find \"{pattern}\""),
        };
        root.intent(look, toolcall::Kind::Search, title).await
    }

    async fn run(&self, input: FindPathInput, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let pattern = GlobPattern::new(&input.pattern)?;
        let path = self.walk_root(&input).resolve_allowed(scope).await?;
        let (files, cut) = (self.files.clone(), self.cut);
        let counts = WalkProgress::of("names seen");
        run_blocking(scope, &counts.clone(), move |scope| {
            let found = find(&files, &path, &pattern, cut, scope, &counts)?;
            Ok(found.render(&input.pattern, &path, scope, cut))
        })
        .await
    }
}

fn find(
    files: &Files,
    path: &Path,
    pattern: &GlobPattern,
    cut: ResultLimit,
    scope: &RunContext,
    counts: &WalkProgress,
) -> Result<FoundPaths, ToolError> {
    let start = open_directory(files, path)?;
    let walk = Walk {
        ignored: Ignored::Hidden,
        depth: usize::MAX,
        wants: &|relative, _| {
            counts.seen.fetch_add(1, Relaxed);
            pattern.matches(relative)
        },
        admits: &|path| scope.may_read(path),
        is_cancelled: &|| scope.is_cancelled(),
    };
    let (collectors, passed) = walk.run(&start, || PathCollector {
        counts,
        newest: SmallestItems::new(cut.items),
    });
    let newest = collectors.into_iter().map(|collector| collector.newest);
    Ok(FoundPaths {
        newest: newest.fold(SmallestItems::new(cut.items), SmallestItems::merge),
        total: counts.hits.load(Relaxed),
        passed,
    })
}

/// Collects the matches of one thread.
struct PathCollector<'a> {
    counts: &'a WalkProgress,
    newest: SmallestItems<FoundPath>,
}

/// A match, ordered by time (the newest first) and then by path.
type FoundPath = (Reverse<i128>, PathBuf, Kind);

/// The result of a search.
struct FoundPaths {
    newest: SmallestItems<FoundPath>,
    total: u64,
    passed: Passed,
}

impl Visitor for PathCollector<'_> {
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        // A file that was deleted in the meantime is not a match.
        if let Ok(modified) = found.modified() {
            self.counts.hits.fetch_add(1, Relaxed);
            let item = (Reverse(modified), found.path.to_owned(), found.kind);
            self.newest.add(item);
        }
        ControlFlow::Continue(())
    }
}

impl FoundPaths {
    fn render(
        self,
        pattern: &str,
        directory: &Path,
        scope: &RunContext,
        cut: ResultLimit,
    ) -> ToolResult {
        let total = self.total;
        let mut heading = self.heading(pattern, &shown(directory, scope));
        heading.push_str(&left_out(&self.passed));
        let mut lines = BoundedLines::new(heading, cut);
        let newest = self.newest.into_sorted();
        let locations = newest.iter().take(MOST_LOCATIONS);
        let locations: Vec<_> = locations.map(|(_, path, _)| Location::file(path)).collect();
        if !locations.is_empty() {
            scope.locate(locations);
        }
        let paths = newest.into_iter();
        let paths: Vec<String> = paths
            .map(|(_, path, kind)| shown(&path, scope) + suffix(kind))
            .take_while(|path| lines.push(path))
            .collect();
        let mut text = lines.text;
        let is_cut = (paths.len() as u64) < total;
        if is_cut {
            let shown = paths.len();
            text.push_str(&format!(
                "\n(the newest {shown} of {total} are shown; a longer pattern or a `path` further down finds fewer)"
            ));
        }
        ToolResult::from(text).structured(json!({
            "paths": paths,
            "total": total,
            "truncated": is_cut || self.passed.too_many,
        }))
    }

    fn heading(&self, pattern: &str, directory: &str) -> String {
        let pattern = clean_line(pattern, LONGEST_TITLE_PART);
        match self.total {
            0 => format!(
                "Nothing in {directory} matches `{pattern}` ({} hidden or ignored, which are left out).",
                counted(self.passed.hidden, "name is", "names are")
            ),
            1 => format!("1 path in {directory} matches `{pattern}`."),
            found => {
                format!("{found} paths in {directory} match `{pattern}`, the newest first.")
            }
        }
    }
}

fn suffix(kind: Kind) -> &'static str {
    match kind {
        Kind::Folder => "/",
        Kind::Link => "@",
        Kind::File | Kind::Pipe | Kind::Socket | Kind::Device => "",
    }
}
