//! What the tools share that walk a tree: the path they state, the work off the runtime, the words for what was left out.
//! It knows no tool.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolcall::text::clean_line;
use toolcall::{
    HostError, Intent, Kind, Location, PrepareContext, Progress, RunContext, ToolError, Touch,
};

use super::naming::{counted, named};
use crate::local::Files;
use crate::local::tree::{Passed, Start};

/// What takes less is not worth a word.
const BEFORE_THE_FIRST_WORD: Duration = Duration::from_secs(1);
const BETWEEN_WORDS: Duration = Duration::from_millis(300);
const LONGEST_IN_A_TITLE: usize = 80;
/// Editors follow a few places, not all of them.
pub(super) const MOST_LOCATIONS: usize = 32;

/// How far a walk is.
#[derive(Debug)]
pub(super) struct Counts {
    /// What is counted as seen.
    pub(super) what: &'static str,
    pub(super) seen: AtomicU64,
    pub(super) hits: AtomicU64,
}

/// Something that looks at one folder or file.
pub(super) struct Place<'a> {
    pub(super) files: &'a Arc<Files>,
    /// As the model wrote it; the session's folder without one.
    pub(super) path: Option<&'a Path>,
}

impl Place<'_> {
    /// The intent to read what is there: where the path leads, and the path itself, so that a rule
    /// about either holds.
    pub(super) async fn intent(
        &self,
        look: &PrepareContext,
        kind: Kind,
        title: String,
    ) -> Result<Intent, ToolError> {
        let asked = look.path(self.given());
        let resolved = self.resolve(asked.clone()).await?;
        let intent = Intent::new(kind, title)
            .at(Location::file(&resolved))
            .touching(Touch::Reads(resolved.clone()));
        Ok(if asked == resolved {
            intent
        } else {
            intent.touching(Touch::Reads(asked))
        })
    }

    /// Where the path leads now, if that is what was stated, or may be read unasked.
    pub(super) async fn reach(&self, scope: &RunContext) -> Result<PathBuf, ToolError> {
        let resolved = self.resolve(scope.path(self.given())).await?;
        if scope.may_read(&resolved) {
            Ok(resolved)
        } else {
            Err(HostError::Changed(resolved).into())
        }
    }

    /// How it is called in a title.
    pub(super) fn in_title(&self) -> String {
        clean_line(&self.given().to_string_lossy(), LONGEST_IN_A_TITLE)
    }

    fn given(&self) -> &Path {
        self.path.unwrap_or(Path::new("."))
    }

    async fn resolve(&self, path: PathBuf) -> Result<PathBuf, ToolError> {
        let files = self.files.clone();
        let resolved = tokio::task::spawn_blocking(move || files.resolve(&path));
        Ok(resolved.await??)
    }
}

/// Opens where a walk begins, or says what to do instead.
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

/// Opens a folder in which a walk begins.
pub(super) fn open_folder(files: &Files, path: &Path) -> Result<Start, ToolError> {
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

/// Does blocking work where that is allowed, and tells how far it is while it lasts.
pub(super) async fn off_the_runtime<T: Send + 'static>(
    scope: &RunContext,
    counts: &Arc<Counts>,
    work: impl FnOnce(&RunContext) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let own = scope.clone();
    let mut task = tokio::task::spawn_blocking(move || work(&own));
    let mut pause = BEFORE_THE_FIRST_WORD;
    let done = loop {
        match tokio::time::timeout(pause, &mut task).await {
            Ok(done) => break done,
            Err(_not_yet) => scope.progress(counts.progress()),
        }
        pause = BETWEEN_WORDS;
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

impl Counts {
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

/// A path as a model gets it: from the session's folder, or absolute where it is not beneath that.
pub(super) fn shown(path: &Path, scope: &RunContext) -> String {
    let from_here = path.strip_prefix(scope.path(""));
    let path = match from_here {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    };
    named(path)
}

/// What a walk passed by and nobody asked it to, a sentence each.
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
