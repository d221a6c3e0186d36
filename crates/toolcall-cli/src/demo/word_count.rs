//! A custom tool beside the built-in ones: it counts words and reports progress.
//! It knows nothing of permission, status or the screen.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{Intent, Kind, PrepareContext, Progress, RunContext, Tool, ToolError};

use crate::pace::Pace;

/// A tool that counts words.
pub(crate) struct WordCount {
    pub(crate) pace: Pace,
}

/// The input of the tool.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The files, relative to the project.
    paths: Vec<PathBuf>,
}

impl Tool for WordCount {
    const NAME: &'static str = "count_words";
    const DESCRIPTION: &'static str = "Counts the words of files.";
    type Input = Input;
    type Output = String;

    async fn prepare(&self, input: &Input, context: &PrepareContext) -> Result<Intent, ToolError> {
        let title = format!("Count the words of {} files", input.paths.len());
        let intent = Intent::new(Kind::Read, title);
        let paths = input.paths.iter().map(|path| context.path(path));
        Ok(paths.fold(intent, Intent::reading))
    }

    async fn run(&self, input: Input, context: &RunContext) -> Result<String, ToolError> {
        let total = input.paths.len();
        let mut words = 0;
        for (done, path) in (1..).zip(&input.paths) {
            self.pace.pause(300).await;
            words += context.read_text(path).await?.split_whitespace().count();
            let progress = Progress::at(f64::from(done)).of(total as f64);
            context.progress(progress.saying(format!("{done} of {total} files")));
        }
        Ok(format!("{words} words"))
    }
}
