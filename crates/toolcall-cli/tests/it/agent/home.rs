//! A temporary home and project, in which this program runs as an agent.
//! It finds every process that still runs there.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use toolcall_testkit::dir::TestDir;
use toolcall_testkit::process::Process;

use crate::PROGRAM;

/// How long a process may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(15);

const FILES: [(&str, &str); 5] = [
    ("project/hello.txt", "Hello, world!\n"),
    (
        "project/src/main.py",
        "def add(a, b):\n    return a - b\n\nprint(add(2, 3))\n",
    ),
    ("project/src/other.py", "# TODO: more\n"),
    ("outside/secret.txt", "nobody is told\n"),
    ("home/.keep", ""),
];

/// A temporary home and project.
pub(crate) struct AgentHome(TestDir);

impl AgentHome {
    pub(crate) fn new() -> Self {
        Self(TestDir::with(&FILES))
    }

    /// Writes a file for its owner alone.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        self.0.write_private(name, text)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.at(name)
    }

    /// Returns the text of a file of the project, if it exists.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.project().join(name)).ok()
    }

    /// Replaces the path of the temporary directory.
    pub(crate) fn steady(&self, text: &str) -> String {
        self.0.steady(text, "…")
    }

    /// Returns a command that runs this program as an agent.
    pub(crate) fn agent(&self, args: &[&str]) -> Command {
        self.program(&[&["agent"], args].concat())
    }

    /// Returns a command that runs this program.
    pub(crate) fn program(&self, args: &[&str]) -> Command {
        self.command(PROGRAM, args)
    }

    /// Returns a command that sees this home and no other environment variables.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.0.command(program, args);
        for (name, directory) in [
            ("XDG_CONFIG_HOME", "home/config"),
            ("XDG_STATE_HOME", "home/state"),
            ("XDG_DATA_HOME", "home/data"),
            ("XDG_CACHE_HOME", "home/cache"),
        ] {
            command.env(name, self.path(directory));
        }
        command
    }

    /// Returns the command lines of all processes here, except the agent.
    pub(crate) fn processes(&self, agent: Option<u32>) -> Vec<String> {
        let others = Process::all().filter(|process| agent != Some(process.id()));
        let here = others.filter(|process| self.is_here(process));
        let words = here.map(|process| process.words().join(" "));
        // A zombie has no command line.
        words.filter(|words| !words.is_empty()).collect()
    }

    /// Waits until no process is left here, except the agent.
    pub(crate) fn wait_for_processes(&self, agent: Option<u32>) {
        let left = self.left_behind(agent);
        assert!(left.is_empty(), "still running: {left:?}");
    }

    /// Returns the processes that are still here after the timeout, except the agent.
    pub(crate) fn left_behind(&self, agent: Option<u32>) -> Vec<String> {
        let began = Instant::now();
        loop {
            let left = self.processes(agent);
            if left.is_empty() || began.elapsed() > EXIT_TIMEOUT {
                return left;
            }
            std::thread::yield_now();
        }
    }

    fn is_here(&self, process: &Process) -> bool {
        let home = self.path("home");
        let home = home.to_str().expect("a path in UTF-8");
        process.cwd().starts_with(self.0.path()) || process.has_variable("HOME", home)
    }
}
