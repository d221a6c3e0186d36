//! A home and a project in a temporary folder, and this program run in them as an agent.
//! Nothing outside of them is touched, and whatever still runs in them is found.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use toolcall_testkit::dir::TestDir;
use toolcall_testkit::process::Process;

use crate::PROGRAM;

/// How long a process may take to be gone.
const LAST_MOMENT: Duration = Duration::from_secs(15);

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

/// A home, and a project to work in.
pub(crate) struct Stage(TestDir);

impl Stage {
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

    /// What a file of the project says; nothing if it is not there.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.project().join(name)).ok()
    }

    /// A text without the name of the temporary folder.
    pub(crate) fn steady(&self, text: &str) -> String {
        self.0.steady(text, "…")
    }

    /// This program as an agent.
    pub(crate) fn agent(&self, args: &[&str]) -> Command {
        self.program(&[&["agent"], args].concat())
    }

    /// This program.
    pub(crate) fn program(&self, args: &[&str]) -> Command {
        self.command(PROGRAM, args)
    }

    /// A program, which sees this home and nothing else of the environment.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.0.command(program, args);
        for (name, folder) in [
            ("XDG_CONFIG_HOME", "home/config"),
            ("XDG_STATE_HOME", "home/state"),
            ("XDG_DATA_HOME", "home/data"),
            ("XDG_CACHE_HOME", "home/cache"),
        ] {
            command.env(name, self.path(folder));
        }
        command
    }

    /// The words of every process that works here, but for the agent itself.
    pub(crate) fn processes(&self, agent: Option<u32>) -> Vec<String> {
        let others = Process::all().filter(|process| agent != Some(process.id()));
        let here = others.filter(|process| self.is_here(process));
        let words = here.map(|process| process.words().join(" "));
        // What has ended and only waits to be reaped has no words.
        words.filter(|words| !words.is_empty()).collect()
    }

    /// Waits until nothing works here any more, but for the agent itself.
    pub(crate) fn settle(&self, agent: Option<u32>) {
        let left = self.left_behind(agent);
        assert!(left.is_empty(), "still running: {left:?}");
    }

    /// What still works here although there was time to end, but for the agent itself.
    pub(crate) fn left_behind(&self, agent: Option<u32>) -> Vec<String> {
        let began = Instant::now();
        loop {
            let left = self.processes(agent);
            if left.is_empty() || began.elapsed() > LAST_MOMENT {
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
