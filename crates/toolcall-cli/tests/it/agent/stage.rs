//! A home and a project in a temporary folder, and this program run in them as an agent.
//! Nothing outside of them is touched, and whatever still runs in them is found.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_toolcall");

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

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
pub(crate) struct Stage {
    // Held, for the folder goes with it.
    _temp: TempDir,
    base: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let stage = Self { _temp: temp, base };
        for (name, text) in FILES {
            stage.write(name, text);
        }
        stage
    }

    /// Writes a file for its owner alone.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.base.join("project")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// What a file of the project says; nothing if it is not there.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.project().join(name)).ok()
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
        let mut command = Command::new(program);
        command.args(args).env_clear();
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "home/config"),
            ("XDG_STATE_HOME", "home/state"),
            ("XDG_DATA_HOME", "home/data"),
            ("XDG_CACHE_HOME", "home/cache"),
        ] {
            command.env(name, self.base.join(folder));
        }
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .current_dir(self.project());
        command
    }

    /// The words of every process that works here, but for the agent itself.
    pub(crate) fn processes(&self, agent: Option<u32>) -> Vec<String> {
        let agent = agent.map(|id| format!("/proc/{id}"));
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .map(|process| process.path())
            .filter(|process| agent.as_deref() != process.to_str())
            .filter(|process| self.is_here(process))
            .filter_map(|process| words(&process))
            .collect()
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

    fn is_here(&self, process: &Path) -> bool {
        let folder = fs::read_link(process.join("cwd")).unwrap_or_default();
        let home = format!("HOME={}", self.base.join("home").display());
        let variables = fs::read(process.join("environ")).unwrap_or_default();
        let mut variables = variables.split(|byte| *byte == 0);
        folder.starts_with(&self.base) || variables.any(|variable| variable == home.as_bytes())
    }
}

/// How a process was started; nothing if it ended already and only waits to be reaped.
fn words(process: &Path) -> Option<String> {
    let bytes = fs::read(process.join("cmdline")).ok()?;
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    (!text.is_empty()).then_some(text)
}
