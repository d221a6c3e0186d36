//! `list_directory`: lists the names in a directory, some levels deep.
//! It reads no file and follows no symlink.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcall::text::clean_line;
use toolcall::{
    Intent, PrepareContext, RunContext, Sketch, Tool, ToolError, ToolResult, arguments,
};

use super::limit::{BoundedLines, ResultLimit, SmallestItems, in_tree_order};
use super::naming::{counted, display_path};
use super::walking::{WalkProgress, WalkRoot, left_out, open_directory, run_blocking, shown};
use crate::local::Files;
use crate::local::tree::{Found, Ignored, Kind, Passed, Visitor, Walk};

const LONGEST_TARGET: usize = 200;

/// Lists the content of a directory.
pub struct ListDirectory {
    files: Arc<Files>,
    cut: ResultLimit,
}

impl ListDirectory {
    /// The default limit of a list.
    pub const CUT: ResultLimit = ResultLimit {
        items: 1000,
        bytes: 32 * 1024,
    };

    /// Creates the tool for directories beneath the roots of `files`.
    pub fn new(files: Arc<Files>) -> Self {
        let cut = Self::CUT;
        Self { files, cut }
    }

    /// Sets how much of a long list to show.
    pub fn with_cut(mut self, cut: ResultLimit) -> Self {
        self.cut = cut;
        self
    }
}

/// What `list_directory` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListDirectoryInput {
    /// The folder; relative paths start at the session's folder.
    path: PathBuf,
    /// How many levels to show; 1, the default, is the folder itself without what is in its folders.
    #[schemars(range(min = 1))]
    depth: Option<usize>,
    /// Whether to `hide` (the default) or `show` names that begin with a dot or that `.gitignore` or `.ignore` files name.
    ignored: Option<IgnoredNames>,
}

/// Whether to show hidden and ignored names.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum IgnoredNames {
    Hide,
    Show,
}

impl From<IgnoredNames> for Ignored {
    fn from(mode: IgnoredNames) -> Self {
        match mode {
            IgnoredNames::Hide => Ignored::Hidden,
            IgnoredNames::Show => Ignored::Shown,
        }
    }
}

impl Tool for ListDirectory {
    const NAME: &'static str = "list_directory";
    const DESCRIPTION: &'static str = "Lists what is in a folder, sorted, as paths from that folder. \
        Folders end in `/`, links in `@` with what they say; links are not followed and `.git` is not entered.";
    const KIND: Option<toolcall::Kind> = Some(toolcall::Kind::Read);
    type Input = ListDirectoryInput;
    type Output = ToolResult;

    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let path = partial.get("path")?.as_str()?;
        Some(Sketch {
            title: format!("List {path}"),
            kind: toolcall::Kind::Read,
            locations: arguments::locations(Some(partial)),
        })
    }

    async fn prepare(
        &self,
        input: &ListDirectoryInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let root = self.walk_root(input);
        let title = format!("List {}", root.in_title());
        root.intent(look, toolcall::Kind::Read, title).await
    }

    async fn run(
        &self,
        input: ListDirectoryInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let path = self.walk_root(&input).resolve_allowed(scope).await?;
        let (files, cut) = (self.files.clone(), self.cut);
        let counts = WalkProgress::of("names seen");
        run_blocking(scope, &counts.clone(), move |scope| {
            let list = list(&files, &path, &input, cut, scope, &counts)?;
            Ok(list.render(&shown(&path, scope), cut))
        })
        .await
    }
}

impl ListDirectory {
    fn walk_root<'a>(&'a self, input: &'a ListDirectoryInput) -> WalkRoot<'a> {
        WalkRoot {
            files: &self.files,
            path: Some(&input.path),
        }
    }
}

fn list(
    files: &Files,
    path: &Path,
    input: &ListDirectoryInput,
    cut: ResultLimit,
    scope: &RunContext,
    counts: &WalkProgress,
) -> Result<DirectoryListing, ToolError> {
    let start = open_directory(files, path)?;
    let walk = Walk {
        ignored: input.ignored.map_or(Ignored::Hidden, Ignored::from),
        depth: input.depth.unwrap_or(1).max(1),
        wants: &|_, _| true,
        admits: &|path| scope.may_read(path),
        is_cancelled: &|| scope.is_cancelled(),
    };
    let (lists, passed) = walk.run(&start, || EntryCollector {
        counts,
        list: DirectoryListing::new(cut),
    });
    let lists = lists.into_iter().map(|collector| collector.list);
    let mut all = lists.fold(DirectoryListing::new(cut), DirectoryListing::merge);
    all.passed = passed;
    Ok(all)
}

/// Collects the entries of one thread.
struct EntryCollector<'a> {
    counts: &'a WalkProgress,
    list: DirectoryListing,
}

/// The entries and their counts.
struct DirectoryListing {
    kept: SmallestItems<ListedEntry>,
    folders: u64,
    files: u64,
    others: u64,
    passed: Passed,
}

/// An entry of the list. Entries of upper levels come first when the list is cut.
#[derive(Debug, PartialEq, Eq)]
struct ListedEntry {
    depth: usize,
    path: PathBuf,
    kind: Kind,
    target: Option<String>,
}

impl Ord for ListedEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_depth = self.depth.cmp(&other.depth);
        by_depth.then_with(|| in_tree_order(&self.path, &other.path))
    }
}

impl PartialOrd for ListedEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Visitor for EntryCollector<'_> {
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        self.counts.seen.fetch_add(1, Relaxed);
        self.counts.hits.fetch_add(1, Relaxed);
        let list = &mut self.list;
        let count = match found.kind {
            Kind::Folder => &mut list.folders,
            Kind::File => &mut list.files,
            Kind::Link | Kind::Pipe | Kind::Socket | Kind::Device => &mut list.others,
        };
        *count += 1;
        list.kept.add(ListedEntry {
            depth: found.depth,
            path: found.relative.to_owned(),
            kind: found.kind,
            target: (found.kind == Kind::Link).then(|| target(found)),
        });
        ControlFlow::Continue(())
    }
}

fn target(found: &Found<'_>) -> String {
    let text = found.target().unwrap_or_default();
    clean_line(&text.to_string_lossy(), LONGEST_TARGET)
}

impl DirectoryListing {
    fn new(cut: ResultLimit) -> Self {
        Self {
            kept: SmallestItems::new(cut.items),
            folders: 0,
            files: 0,
            others: 0,
            passed: Passed::default(),
        }
    }

    fn merge(self, other: Self) -> Self {
        Self {
            kept: self.kept.merge(other.kept),
            folders: self.folders + other.folders,
            files: self.files + other.files,
            others: self.others + other.others,
            passed: self.passed,
        }
    }

    fn total(&self) -> u64 {
        self.folders + self.files + self.others
    }

    fn render(self, place: &str, cut: ResultLimit) -> ToolResult {
        let (heading, total) = (self.heading(place), self.total());
        let numbers = json!({
            "path": place,
            "folders": self.folders,
            "files": self.files,
            "others": self.others,
            "hidden": self.passed.hidden,
            "total": total,
        });
        let is_whole = !self.passed.too_many;
        let mut entries = self.kept.into_vec();
        entries.sort_unstable_by(|one, other| in_tree_order(&one.path, &other.path));
        let mut lines = BoundedLines::new(heading, cut);
        let names = entries.iter().map(ListedEntry::line);
        let names: Vec<_> = names.take_while(|name| lines.push(name)).collect();
        let mut text = lines.text;
        if (names.len() as u64) < total {
            text.push_str(&format!(
                "\n({} of {total} shown; list a folder further down, or fewer levels, for the rest)",
                names.len()
            ));
        }
        let mut structured = numbers;
        structured["truncated"] = json!((names.len() as u64) < total || !is_whole);
        structured["entries"] = names.into_iter().map(Value::from).collect();
        ToolResult::from(text).structured(structured)
    }

    fn heading(&self, place: &str) -> String {
        let mut heading = format!(
            "{place}: {}, {}",
            counted(self.folders, "folder", "folders"),
            counted(self.files, "file", "files")
        );
        if self.others > 0 {
            heading.push_str(", ");
            heading.push_str(&counted(self.others, "link or other", "links and others"));
        }
        heading.push('.');
        if self.passed.hidden > 0 {
            let hidden = counted(self.passed.hidden, "name", "names");
            heading.push_str(&format!(
                " {hidden} hidden or ignored; `ignored: \"show\"` shows them."
            ));
        }
        heading.push_str(&left_out(&self.passed));
        heading
    }
}

impl ListedEntry {
    fn line(&self) -> String {
        let path = display_path(&self.path);
        match self.kind {
            Kind::File => path,
            Kind::Folder => path + "/",
            Kind::Link => format!("{path}@ -> {}", self.target.as_deref().unwrap_or_default()),
            Kind::Pipe => path + " (pipe)",
            Kind::Socket => path + " (socket)",
            Kind::Device => path + " (device)",
        }
    }
}
