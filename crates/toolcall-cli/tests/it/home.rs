//! Runs this program in a temporary home and project.
//! Nothing outside of those directories is changed.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use toolcall_testkit::dir::TestDir;

use crate::PROGRAM;

/// A temporary home and project.
pub(crate) struct CliHome(TestDir);

impl CliHome {
    pub(crate) fn new() -> Self {
        Self(TestDir::with(&[
            ("home/.keep", ""),
            ("project/a.txt", "one\n"),
        ]))
    }

    /// Returns whether the project has a file of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.at("project").join(name).exists()
    }

    /// Writes a file for its owner alone.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        self.write_private(name, text)
    }

    /// Returns a command that runs this program in this home and project, without other variables.
    pub(crate) fn toolcall(&self, args: &[&str]) -> Command {
        self.command(PROGRAM, args)
    }

    /// Runs the program. Returns exit code, output and errors, with `…` for the temporary directory.
    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let (code, text, complaint) = ended(self.toolcall(args).output().unwrap());
        (code, self.steady(&text, "…"), self.steady(&complaint, "…"))
    }

    /// Returns the output of a successful run.
    pub(crate) fn printed(&self, args: &[&str]) -> String {
        let (code, text, complaint) = self.run(args);
        assert_eq!((code, &*complaint), (Some(0), ""), "{args:?}: {text}");
        text
    }

    /// Returns the JSON output.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let (_, text, complaint) = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{complaint}"))
    }
}

impl std::ops::Deref for CliHome {
    type Target = TestDir;

    fn deref(&self) -> &TestDir {
        &self.0
    }
}

/// Returns exit code, output and errors.
pub(crate) fn ended(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}
