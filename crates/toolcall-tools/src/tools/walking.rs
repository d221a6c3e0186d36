//! What the tools that walk directory trees share: the stated path, blocking work with progress, notes on skipped paths.
//! It knows no particular tool.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolcall::text::clean_line;
use toolcall::{
    HostError, Intent, Kind, Location, PrepareContext, Progress, RunContext, ToolError, Touch,
};

use super::naming::{counted, display_path};
use crate::local::Files;
use crate::local::tree::{Passed, Start};

/// A shorter walk reports no progress.
const FIRST_REPORT_AFTER: Duration = Duration::from_secs(1);
const REPORT_INTERVAL: Duration = Duration::from_millis(300);
const LONGEST_TITLE_PART: usize = 80;
/// How many locations to report; editors follow only a few.
pub(super) const MOST_LOCATIONS: usize = 32;

/// The progress of a walk, shared by its threads.
#[derive(Debug)]
pub(super) struct WalkProgress {
    /// What `seen` counts, such as "files searched".
    pub(super) what: &'static str,
    pub(super) seen: AtomicU64,
    pub(super) hits: AtomicU64,
}

/// The directory or file in which a walk starts.
pub(super) struct WalkRoot<'a> {
    pub(super) files: &'a Arc<Files>,
    /// The path as the model wrote it; the session's directory if `None`.
    pub(super) path: Option<&'a Path>,
}

impl WalkRoot<'_> {
    /// Returns the intent to read the resolved path and, where symlinks make it differ, the given path, so that
    /// rules about either apply.
    pub(super) async fn intent(
        &self,
        look: &PrepareContext,
        kind: Kind,
        title: String,
    ) -> Result<Intent, ToolError> {
        let requested = look.path(self.input_path());
        let resolved = self.resolve(requested.clone()).await?;
        let intent = Intent::new(kind, title)
            .at(Location::file(&resolved))
            .touching(Touch::Reads(resolved.clone()));
        Ok(if requested == resolved {
            intent
        } else {
            intent.touching(Touch::Reads(requested))
        })
    }

    /// Resolves the path again, and fails unless the result was stated or may be read without asking.
    pub(super) async fn resolve_allowed(&self, scope: &RunContext) -> Result<PathBuf, ToolError> {
        let resolved = self.resolve(scope.path(self.input_path())).await?;
        if scope.may_read(&resolved) {
            Ok(resolved)
        } else {
            Err(HostError::Changed(resolved).into())
        }
    }

    /// Returns the path for a title.
    pub(super) fn in_title(&self) -> String {
        clean_line(&self.input_path().to_string_lossy(), LONGEST_TITLE_PART)
    }

    fn input_path(&self) -> &Path {
        self.path.unwrap_or(Path::new("."))
    }

    async fn resolve(&self, path: PathBuf) -> Result<PathBuf, ToolError> {
        let files = self.files.clone();
        let resolved = tokio::task::spawn_blocking(move || files.resolve(&path));
        Ok(resolved.await??)
    }
}

/// Opens the start of a walk. The error for a missing path says what to do.
pub(super) fn open(files: &Files, path: &Path) -> Result<Start, ToolError> {
    files.start(path).map_err(|error| match error {
        HostError::Missing(path) => ToolError::new(format!(
            "`{}` does not exist; list the folder above it to see what does",
            path.display()
        )),
        other @ (HostError::Changed(_)
        | HostError::Exists(_)
        | HostError::NotRunnable { .. }
        | HostError::Other(_)) => other.into(),
    })
}

/// Opens the start of a walk, which must be a directory.
pub(super) fn open_directory(files: &Files, path: &Path) -> Result<Start, ToolError> {
    let start = open(files, path)?;
    if start.is_file() {
        Err(ToolError::new(format!(
            "`{}` is a file, not a folder; give the folder it is in",
            path.display()
        )))
    } else {
        Ok(start)
    }
}

/// Runs blocking work on a thread for it, and reports progress meanwhile.
pub(super) async fn run_blocking<T: Send + 'static>(
    scope: &RunContext,
    counts: &Arc<WalkProgress>,
    work: impl FnOnce(&RunContext) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let own = scope.clone();
    let mut task = tokio::task::spawn_blocking(move || work(&own));
    let mut pause = FIRST_REPORT_AFTER;
    let done = loop {
        match tokio::time::timeout(pause, &mut task).await {
            Ok(done) => break done,
            Err(_not_yet) => scope.progress(counts.progress()),
        }
        pause = REPORT_INTERVAL;
    };
    match done {
        Ok(_) if scope.is_cancelled() => Err(ToolError::new("stopped before the end")),
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(error.into()),
        },
    }
}

impl WalkProgress {
    pub(super) fn of(what: &'static str) -> Arc<Self> {
        Arc::new(Self {
            what,
            seen: AtomicU64::new(0),
            hits: AtomicU64::new(0),
        })
    }

    fn progress(&self) -> Progress {
        let (seen, hits) = (
            self.seen.load(Ordering::Relaxed),
            self.hits.load(Ordering::Relaxed),
        );
        let hits = counted(hits, "match", "matches");
        Progress::at(seen as f64).saying(format!("{seen} {}, {hits}", self.what))
    }
}

/// Returns a path as the model gets it: relative to the session's directory, or absolute if it is outside.
pub(super) fn shown(path: &Path, scope: &RunContext) -> String {
    let from_here = path.strip_prefix(scope.path(""));
    let path = match from_here {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    };
    display_path(path)
}

/// Returns a sentence for each reason why the walk skipped paths.
pub(super) fn left_out(passed: &Passed) -> String {
    let mut words = String::new();
    let mut say = |number: u64, one: &str, many: &str| {
        if number > 0 {
            words.push(' ');
            words.push_str(&counted(number, one, many));
        }
    };
    say(
        passed.denied,
        "path is left out because a rule denies it.",
        "paths are left out because a rule denies them.",
    );
    say(
        passed.unreadable,
        "folder could not be read.",
        "folders could not be read.",
    );
    say(
        passed.too_deep,
        "folder lies too deep and was not entered.",
        "folders lie too deep and were not entered.",
    );
    if passed.too_many {
        words.push_str(" There are too many names, so not all were looked at; give a folder further down as `path`.");
    }
    words
}
