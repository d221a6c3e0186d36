//! A tool that waits for changes until it is stopped.
//! When it is stopped it cleans up and leaves.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{Intent, Kind, Look, Scope, Tool, ToolError};

use crate::demo::pace::Pace;

/// Watches a folder.
pub(crate) struct WatchFolder {
    pub(crate) pace: Pace,
}

/// Which folder.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The folder, relative to the project.
    path: PathBuf,
}

impl Tool for WatchFolder {
    const NAME: &'static str = "watch_folder";
    const DESCRIPTION: &'static str = "Watches a folder of the project until it is stopped.";
    type Input = Input;
    type Output = String;

    async fn prepare(&self, input: &Input, look: &Look) -> Result<Intent, ToolError> {
        let title = format!("Watch {}", input.path.display());
        Ok(Intent::new(Kind::Read, title).reading(look.path(&input.path)))
    }

    async fn run(&self, input: Input, scope: &Scope) -> Result<String, ToolError> {
        scope.print(format!("watching {}\n", input.path.display()));
        self.pace.pause(700).await;
        scope.print("no change so far\n");
        scope.cancelled().await;
        scope.print("stopped watching\n");
        Ok("no change until it was stopped".to_owned())
    }
}
