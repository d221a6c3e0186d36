//! A tool that runs a command.
//! It states the command as the model wrote it and runs no other.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{Command, Exit, Intent, Kind, Look, Scope, Tool, ToolError};

/// Runs a command.
pub(crate) struct RunCommand;

/// Which command.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The command.
    command: String,
}

impl Tool for RunCommand {
    const NAME: &'static str = "run_command";
    const DESCRIPTION: &'static str = "Runs a command in the project.";
    type Input = Input;
    type Output = String;

    async fn prepare(&self, input: &Input, look: &Look) -> Result<Intent, ToolError> {
        let command = Command::unread(&*input.command, look.path("."));
        let title = format!("Run `{}`", input.command);
        Ok(Intent::new(Kind::Execute, title).running(command))
    }

    async fn run(&self, input: Input, scope: &Scope) -> Result<String, ToolError> {
        let command = Command::unread(input.command, scope.path("."));
        match scope.run(&command).await? {
            Exit::Code(0) => Ok("it succeeded".to_owned()),
            Exit::Code(code) => Err(ToolError::new(format!("it ended with code {code}"))),
            Exit::Signal(signal) => Err(ToolError::new(format!("signal {signal} ended it"))),
        }
    }
}
