//! `command_output`: returns the new output and the status of a background command.
//! It can wait for the command to end; it never changes it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcall::{
    Exit, Intent, Kind, PrepareContext, RunContext, Sketch, Tool, ToolError, ToolResult,
};

use super::naming::counted;
use crate::command::{JobId, JobOutput, JobStatus, Jobs};

/// Returns the output and the status of a background command.
#[derive(Clone, Debug)]
pub struct CommandOutput {
    jobs: Arc<Jobs>,
}

/// Which command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandOutputInput {
    /// Its id, as run_command gave it.
    id: String,
    /// The seconds to wait for its end before looking; 0 if left out.
    #[serde(default)]
    #[schemars(range(max = 600))]
    wait: u64,
}

impl CommandOutput {
    /// Creates the tool for these jobs.
    pub fn new(jobs: Arc<Jobs>) -> Self {
        Self { jobs }
    }
}

impl Tool for CommandOutput {
    const NAME: &'static str = "command_output";
    const DESCRIPTION: &'static str = "Tells what a background command printed since the last \
        look, and whether it still runs or how it ended.";
    const KIND: Option<Kind> = Some(Kind::Read);
    type Input = CommandOutputInput;
    type Output = ToolResult;

    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let id = partial.get("id")?.as_str()?;
        Some(Sketch {
            title: title(id),
            kind: Kind::Read,
            ..Sketch::default()
        })
    }

    async fn prepare(
        &self,
        input: &CommandOutputInput,
        _look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let id: JobId = input.id.parse()?;
        self.jobs.status(id)?;
        Ok(Intent::new(Kind::Read, title(&input.id)))
    }

    async fn run(
        &self,
        input: CommandOutputInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let id: JobId = input.id.parse()?;
        let wait = Duration::from_secs(input.wait);
        tokio::select! {
            // A timeout is fine: the command is still running then.
            _ended = tokio::time::timeout(wait, self.jobs.ended(id)) => {}
            () = scope.cancelled() => {}
        }
        Ok(output_result(id, &self.jobs.news(id)?))
    }
}

fn title(id: &str) -> String {
    format!("Look at background command {id}")
}

fn output_result(id: JobId, output: &JobOutput) -> ToolResult {
    let how = describe(&output.status);
    let mut said = format!(
        "background command {id} {how}; {} of new output",
        counted(output.bytes, "byte", "bytes")
    );
    if output.skipped > 0 {
        said += &format!(", {} of them left out here", output.skipped);
    }
    if let Some(spill) = &output.spill {
        said += &format!("; {}: {}", spill.uri, spill.summary());
    }
    let result = if output.text.is_empty() {
        ToolResult::default()
    } else {
        ToolResult::from(output.text.as_str())
    };
    result.with(said).structured(json!({
        "id": id.to_string(), "status": name(&output.status), "exitCode": code(&output.status),
        "bytes": output.bytes, "skipped": output.skipped,
    }))
}

/// Returns the status of a background command as the end of a sentence.
pub(super) fn describe(status: &JobStatus) -> String {
    match status {
        JobStatus::Running => "is running".to_owned(),
        JobStatus::Ended(Exit::Code(code)) => format!("ended with exit code {code}"),
        JobStatus::Ended(Exit::Signal(signal)) => format!("was ended by signal {signal}"),
        JobStatus::Stopped(Exit::Code(code)) => format!("was stopped, with exit code {code}"),
        JobStatus::Stopped(Exit::Signal(signal)) => format!("was stopped by signal {signal}"),
        JobStatus::Failed(why) => format!("failed: {why}"),
    }
}

/// Returns the status as one word, for structured output.
pub(super) fn name(status: &JobStatus) -> &'static str {
    match status {
        JobStatus::Running => "running",
        JobStatus::Ended(_) => "ended",
        JobStatus::Stopped(_) => "stopped",
        JobStatus::Failed(_) => "failed",
    }
}

fn code(status: &JobStatus) -> Option<i32> {
    match status {
        JobStatus::Ended(Exit::Code(code)) | JobStatus::Stopped(Exit::Code(code)) => Some(*code),
        JobStatus::Ended(Exit::Signal(_))
        | JobStatus::Stopped(Exit::Signal(_))
        | JobStatus::Running
        | JobStatus::Failed(_) => None,
    }
}
