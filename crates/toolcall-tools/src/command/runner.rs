//! Runs commands on this machine, exactly as they were parsed.
//! A text that was not understood never runs in parts: it runs in a shell, and only if it was allowed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolcall::{Command, Console, Exit, HostError, Part, Reading};
use toolcall_shell::RunEnvironment;

use super::caller::{self, Mark};
use super::environment::command_environment;
use super::protocol::{Isolation, JobPart, JobRequest};
use super::redirects::RootedFiles;
use super::sandbox::Sandbox;
use super::supervisor::Supervisor;
use crate::local::Files;

/// How long a stopped command may take to end before it is killed. It is shorter than the engine's
/// grace for a stopped call, so that the call still reports how the command ended.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(1);

/// Variables that a call adds to the environment of its command.
pub(super) type CommandVariables = BTreeMap<Arc<str>, Arc<str>>;

/// Runs commands.
///
/// With a supervisor, no process of a command outlives it. Without one, commands run as children of
/// this process: a program that leaves the command's process group (`setsid`) survives the command,
/// all of them survive if this process is killed, and they have access to its terminal.
///
/// Under a supervisor, programs have `TOOLCALL_COMMAND` in their environment. Its value is unique to
/// the command, so that its processes are found if the supervisor is killed.
#[derive(Clone)]
pub struct Commands {
    files: Arc<Files>,
    supervisor: Option<Supervisor>,
    sandbox: Option<Sandbox>,
    env: BTreeMap<OsString, OsString>,
    grace: Duration,
}

impl Commands {
    /// A runner whose commands may redirect to files beneath these roots. Their environment is that
    /// of this process, changed by [`command_environment`].
    pub fn new(files: Arc<Files>) -> Self {
        Self {
            files,
            supervisor: None,
            sandbox: None,
            env: command_environment(std::env::vars_os()),
            grace: DEFAULT_GRACE,
        }
    }

    /// Runs every command under this supervisor.
    pub fn with_supervisor(mut self, supervisor: Supervisor) -> Self {
        self.supervisor = Some(supervisor);
        self
    }

    /// Runs commands in this sandbox, or not at all. Needs a supervisor.
    pub fn with_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Runs commands in exactly this environment.
    pub fn with_env(mut self, env: BTreeMap<OsString, OsString>) -> Self {
        self.env = env;
        self
    }

    /// Sets how long a stopped command may take to end before it is killed.
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Runs a command until it ends or is stopped, and passes its output to the console as it
    /// arrives. Dropping the future ends the command, too.
    pub async fn run(&self, command: &Command, console: &dyn Console) -> Result<Exit, HostError> {
        let parts = runnable_parts(command, console)?;
        let print = |bytes: &[u8]| console.print(bytes);
        let ended = self.run_parts(parts, &command.env, print, console.stopped());
        ended.await.map_err(|why| not_runnable(command, why))
    }

    /// Runs the parts of a command, with supervisor and sandbox as configured.
    pub(super) async fn run_parts(
        &self,
        parts: Vec<Part>,
        variables: &CommandVariables,
        print: impl FnMut(&[u8]) + Send,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Exit, String> {
        let env = self.environment(variables);
        match (&self.supervisor, &self.sandbox) {
            (Some(supervisor), _) => {
                let mark = Mark::new();
                let job = self.job(parts, env, &mark)?;
                caller::run(supervisor, &job, &mark, print, stop).await
            }
            (None, Some(_)) => {
                Err("the sandbox cannot be built: it takes a supervisor, and there is none".into())
            }
            (None, None) => self.run_unsupervised(&parts, &env, print, stop).await,
        }
    }

    async fn run_unsupervised(
        &self,
        parts: &[Part],
        env: &BTreeMap<OsString, OsString>,
        print: impl FnMut(&[u8]) + Send,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Exit, String> {
        let environment = RunEnvironment {
            env,
            files: &RootedFiles(&self.files),
            grace: self.grace,
        };
        let ended = toolcall_shell::run(parts, &environment, print, stop).await;
        ended.map_err(|error| error.to_string())
    }

    fn environment(&self, variables: &CommandVariables) -> BTreeMap<OsString, OsString> {
        let mut env = self.env.clone();
        let variables = variables.iter();
        env.extend(variables.map(|(name, value)| ((&**name).into(), (&**value).into())));
        env
    }

    fn job(
        &self,
        parts: Vec<Part>,
        mut env: BTreeMap<OsString, OsString>,
        mark: &Mark,
    ) -> Result<JobRequest, String> {
        let isolation = self
            .sandbox
            .as_ref()
            .map(|sandbox| isolation(sandbox, mark));
        if let Some(isolation) = &isolation {
            env.insert("TMPDIR".into(), isolation.temp_dir.clone());
        }
        env.insert(mark.name.clone(), mark.value.clone());
        let roots = self.files.root_ids().map_err(|error| error.to_string())?;
        Ok(JobRequest {
            parts: parts.into_iter().map(JobPart).collect(),
            env: env.into_iter().collect(),
            roots: roots.into_iter().map(Into::into).collect(),
            refuses_symlinks: self.files.refuses_symlinks(),
            grace: self.grace,
            isolation,
        })
    }
}

fn isolation(sandbox: &Sandbox, mark: &Mark) -> Isolation {
    let writable = sandbox.writable.iter();
    Isolation {
        writable: writable.map(|path| path.clone().into()).collect(),
        network: sandbox.network,
        temp_dir: std::env::temp_dir().join(&mark.value).into(),
    }
}

/// Leaves out the environment, which may hold secrets.
impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands")
            .field("files", &self.files)
            .field("supervisor", &self.supervisor)
            .field("sandbox", &self.sandbox)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

/// Returns what to run: the parts of a command that was understood, or else the text in a shell, if
/// that was allowed.
pub(super) fn runnable_parts(
    command: &Command,
    console: &dyn Console,
) -> Result<Vec<Part>, HostError> {
    let decision = console.decision();
    let was_allowed = decision.is_some_and(|decision| decision.is_approval());
    match &command.reading {
        Reading::Understood(parts) => Ok(parts.clone()),
        // No rule about parts can have allowed it: there are no parts.
        Reading::Unclear(_) if was_allowed => {
            let argv = ["/bin/sh", "-c", &command.text].map(str::to_owned);
            Ok(vec![Part::new(argv.to_vec(), &command.cwd)])
        }
        Reading::Unclear(why) => {
            let why = format!("it is not fully understood ({why}), and nobody allowed it");
            Err(not_runnable(command, why))
        }
    }
}

fn not_runnable(command: &Command, why: String) -> HostError {
    HostError::NotRunnable {
        command: command.text.clone(),
        reason: why.into(),
    }
}
