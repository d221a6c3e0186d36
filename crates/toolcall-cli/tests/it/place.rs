//! A home and a project in a temporary folder, and this program run in them.
//! Nothing outside of those folders is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_toolcall");

/// A home, and a project to work in.
pub(crate) struct Place {
    temp: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let place = Self { temp };
        place.write("home/.keep", "");
        place.write("project/a.txt", "one\n");
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.temp.path()
    }

    /// Whether the project has a file of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path().join("project").join(name).exists()
    }

    /// Writes a file for its owner alone.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// A program that sees this home and this project, and nothing else of the environment.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).env_clear().stdin(Stdio::null());
        command
            .env("HOME", self.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap())
            .current_dir(self.path().join("project"));
        command
    }

    /// How it ended and what came out, with the temporary folder's name taken out of it.
    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(PROGRAM, args).output().unwrap();
        let here = self.path().canonicalize().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(here.to_str().unwrap(), "…")
        };
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// What a successful run prints.
    pub(crate) fn printed(&self, args: &[&str]) -> String {
        let (code, text, complaint) = self.run(args);
        assert_eq!((code, &*complaint), (Some(0), ""), "{args:?}: {text}");
        text
    }

    /// What is told to programs.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let (_, text, complaint) = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{complaint}"))
    }
}
