//! `run_command`: runs a command line, in the foreground or in the background.
//! It runs exactly the command that it stated and that the policy judged.

mod repositories;
mod scripts;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcall::text::clean_command;
use toolcall::{
    Command, Exit, Intent, Kind, PrepareContext, Reading, RunContext, Target, Tool, ToolError,
    ToolResult,
};

use crate::command::Jobs;

/// The time limit of a command that sets none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10 * 60);
const MAX_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// In grapheme clusters.
const LONGEST_TITLE: usize = 200;

/// Runs a command line.
#[derive(Clone, Debug)]
pub struct RunCommand {
    jobs: Arc<Jobs>,
}

/// What to run, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCommandInput {
    /// The command line, as a shell reads it. Nobody answers it: its input is empty.
    command: String,
    /// The folder it runs in; the session's folder if left out.
    cwd: Option<PathBuf>,
    /// Variables to add to its environment.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The seconds it may take: 600 if left out, at most 3600. Then it is ended. A background
    /// command takes as long as it likes.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u64>,
    /// Whether it goes on in the background. Then the answer is its id, for command_output and
    /// stop_command; it ends with the session. False if left out.
    #[serde(default)]
    background: bool,
}

impl RunCommand {
    /// Creates the tool. Background commands are started as these jobs.
    pub fn new(jobs: Arc<Jobs>) -> Self {
        Self { jobs }
    }
}

impl Tool for RunCommand {
    const NAME: &'static str = "run_command";
    const DESCRIPTION: &'static str = "Runs a command line and gives what it prints and how it \
        ends. Plain programs joined by `&&`, `||`, `;` and `|`, with `cd` and redirects to files, \
        are read word by word and can be allowed by rules; anything else a shell knows (variables, \
        globs, substitutions) is asked about as a whole.";
    const ALIASES: &'static [&'static str] = &["terminal"];
    const KIND: Option<Kind> = Some(Kind::Execute);
    const TIMEOUT: Option<Duration> = Some(MAX_TIMEOUT);
    type Input = RunCommandInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &RunCommandInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        if input.command.trim().is_empty() {
            return Err(ToolError::new("`command` is empty; give a command line"));
        }
        check_env(&input.env)?;
        let cwd = match &input.cwd {
            Some(directory) => look.resolve(directory).await?,
            None => look.path("."),
        };
        let reading = toolcall_shell::read(&input.command, &cwd);
        let reading = resolve_paths(reading, look).await?;
        let mut files = toolcall_shell::touches(&reading);
        files.extend(repositories::between(&reading, look).await);
        let mut command = Command::new(&*input.command, cwd, reading);
        command.scripts = scripts::digests(&command, look).await;
        command.env = input
            .env
            .iter()
            .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
            .collect();
        let shown = clean_command(&input.command, LONGEST_TITLE);
        let title = if input.background {
            format!("{shown} (in the background)")
        } else {
            shown
        };
        let intent = Intent::new(Kind::Execute, title).running(command);
        Ok(files.into_iter().fold(intent, Intent::touching))
    }

    async fn run(
        &self,
        input: RunCommandInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let command = prepared_command(scope)?;
        scripts::check(command, scope).await?;
        if input.background {
            return self.start(command, scope);
        }
        let timeout = input.timeout.map(Duration::from_secs);
        scope.end_within(timeout.unwrap_or(DEFAULT_TIMEOUT));
        match scope.run(command).await? {
            Exit::Code(0) => Ok("it ended with exit code 0".into()),
            Exit::Code(code) => Err(ToolError::new(format!(
                "the command failed with exit code {code}"
            ))),
            Exit::Signal(signal) => {
                Err(ToolError::new(format!("signal {signal} ended the command")))
            }
        }
    }
}

impl RunCommand {
    fn start(&self, command: &Command, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let id = self.jobs.start(command, scope.id(), scope)?;
        let said = format!(
            "started background command {id}; command_output tells what it prints, stop_command \
             ends it"
        );
        Ok(ToolResult::from(said).structured(json!({"id": id.to_string()})))
    }
}

/// Resolves symlinks in the directories and redirects of a reading, so that the policy judges the real paths. If a
/// directory cannot be resolved, for example outside of the roots, the whole command is unclear.
async fn resolve_paths(reading: Reading, look: &PrepareContext) -> Result<Reading, ToolError> {
    let Reading::Understood(mut parts) = reading else {
        return Ok(reading);
    };
    for part in &mut parts {
        match look.resolve(&part.cwd).await {
            Ok(directory) => part.cwd = directory,
            Err(error) => return Ok(Reading::Unclear(error.reason().into())),
        }
        for redirect in &mut part.redirects {
            if let Target::File { path, .. } = &mut redirect.target {
                *path = look.resolve(&*path).await?;
            }
        }
    }
    Ok(Reading::Understood(parts))
}

/// Returns the command of the prepared intent.
fn prepared_command(scope: &RunContext) -> Result<&Command, ToolError> {
    let missing = || ToolError::new("no command was prepared");
    scope
        .prepared()
        .intent
        .commands()
        .next()
        .ok_or_else(missing)
}

fn check_env(env: &BTreeMap<String, String>) -> Result<(), ToolError> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    match env
        .iter()
        .find(|(name, value)| !is_name(name) || value.contains('\0'))
    {
        Some((name, _)) => Err(ToolError::new(format!(
            "`{name}` cannot be set: names are letters, digits and `_`, values hold no NUL"
        ))),
        None => Ok(()),
    }
}
