//! `stop_command`: ends a background command with all its processes.
//! It ends only commands of its own session.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcall::{Intent, Kind, PrepareContext, RunContext, Sketch, Tool, ToolError, ToolResult};

use super::command_output::{describe, name};
use crate::command::{JobId, Jobs};

/// Stops a background command.
#[derive(Clone, Debug)]
pub struct StopCommand {
    jobs: Arc<Jobs>,
}

/// Which command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopCommandInput {
    /// Its id, as run_command gave it.
    id: String,
}

impl StopCommand {
    /// Creates the tool for these jobs.
    pub fn new(jobs: Arc<Jobs>) -> Self {
        Self { jobs }
    }
}

impl Tool for StopCommand {
    const NAME: &'static str = "stop_command";
    const DESCRIPTION: &'static str = "Ends a background command with all that it started.";
    const KIND: Option<Kind> = Some(Kind::Execute);
    type Input = StopCommandInput;
    type Output = ToolResult;

    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let id = partial.get("id")?.as_str()?;
        Some(Sketch {
            title: title(id),
            kind: Kind::Execute,
            ..Sketch::default()
        })
    }

    async fn prepare(
        &self,
        input: &StopCommandInput,
        _look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let id: JobId = input.id.parse()?;
        self.jobs.status(id)?;
        Ok(Intent::new(Kind::Execute, title(&input.id)))
    }

    async fn run(
        &self,
        input: StopCommandInput,
        _scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let id: JobId = input.id.parse()?;
        let status = self.jobs.stop(id).await?;
        let said = format!("background command {id} {}", describe(&status));
        let structured = json!({"id": id.to_string(), "status": name(&status)});
        Ok(ToolResult::from(said).structured(structured))
    }
}

fn title(id: &str) -> String {
    format!("Stop background command {id}")
}
