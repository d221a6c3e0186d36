//! A tool that reads a file.
//! It states which one before it reads, and reads no other.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{Intent, Kind, Look, Scope, Tool, ToolError};

use crate::demo::pace::Pace;

/// Reads a file.
pub(crate) struct ReadFile {
    pub(crate) pace: Pace,
}

/// Which file.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The file, relative to the project.
    path: PathBuf,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file of the project.";
    type Input = Input;
    type Output = Arc<str>;

    async fn prepare(&self, input: &Input, look: &Look) -> Result<Intent, ToolError> {
        let title = format!("Read {}", input.path.display());
        Ok(Intent::new(Kind::Read, title).reading(look.path(&input.path)))
    }

    async fn run(&self, input: Input, scope: &Scope) -> Result<Arc<str>, ToolError> {
        self.pace.pause(350).await;
        scope.read_text(input.path).await
    }
}
