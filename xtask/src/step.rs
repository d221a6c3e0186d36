//! A step: one command with a title and perhaps a time limit, and running a list of them in order.
//! It does not know what the steps are for.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a step with a time limit is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// One command to run.
pub(crate) struct Step {
    title: String,
    command: Command,
    limit: Option<Duration>,
}

impl Step {
    /// A step that may take as long as it needs.
    pub(crate) fn new(title: impl Into<String>, command: Command) -> Self {
        Self {
            title: title.into(),
            command,
            limit: None,
        }
    }

    /// The same step, ended as a failure when it takes longer than `limit`.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs the command to its end. Anything but success is an error that names the step.
    pub(crate) fn run(mut self) -> Result<(), String> {
        let title = self.title;
        let mut child = self
            .command
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("`{title}` could not be started: {error}"))?;
        let ended = match self.limit {
            Some(limit) => wait_within(&mut child, limit),
            None => child.wait().map_err(|error| error.to_string()),
        };
        judge(&title, ended)
    }
}

/// Runs the steps in order with a line of progress each. The first failure ends the run.
pub(crate) fn run_all(steps: Vec<Step>) -> Result<(), String> {
    let begin = Instant::now();
    let count = steps.len();
    for (done, step) in steps.into_iter().enumerate() {
        eprintln!("[{}/{count}] {}", done + 1, step.title);
        step.run()?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!("all {count} steps passed in {seconds:.1} s");
    Ok(())
}

/// A call of the cargo that runs this program, in the root of the workspace.
pub(crate) fn cargo<A: AsRef<OsStr>>(root: &Path, args: impl IntoIterator<Item = A>) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(args);
    command
}

/// The file name of a program on this system.
pub(crate) fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

fn judge(title: &str, ended: Result<ExitStatus, String>) -> Result<(), String> {
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{title}` failed: {status}")),
        Err(why) => Err(format!("`{title}` failed: {why}")),
    }
}

fn wait_within(child: &mut Child, limit: Duration) -> Result<ExitStatus, String> {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        std::thread::sleep(GLANCE);
    }
    child.kill().map_err(|error| error.to_string())?;
    child.wait().map_err(|error| error.to_string())?;
    Err(format!("not done within {limit:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(title: &str, args: &[&str]) -> Step {
        let mut command = cargo(Path::new("."), args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Step::new(title, command)
    }

    #[test]
    fn steps_that_succeed_pass() {
        let limited = step("b", &["--version"]).within(Duration::from_secs(60));
        assert_eq!(run_all(vec![step("a", &["--version"]), limited]), Ok(()));
    }

    #[test]
    fn the_first_failure_is_named_and_ends_the_run() {
        let steps = vec![
            step("good", &["--version"]),
            step("bad", &["--no-such-option"]),
            Step::new("never", Command::new("no-such-program")),
        ];
        let why = run_all(steps).unwrap_err();
        assert!(why.starts_with("`bad` failed: exit"), "{why}");
    }

    #[test]
    fn a_program_that_is_missing_is_a_failure() {
        let why = Step::new("lost", Command::new("no-such-program")).run();
        let why = why.unwrap_err();
        assert!(why.starts_with("`lost` could not be started"), "{why}");
    }

    #[cfg(unix)]
    #[test]
    fn a_step_over_its_limit_is_ended_and_fails() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let why = Step::new("slow", command)
            .within(Duration::from_millis(1))
            .run();
        assert_eq!(why, Err("`slow` failed: not done within 1ms".into()));
    }
}
