//! A home and a project in a temporary folder, and this program run in them.
//! Nothing outside of those folders is changed.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use toolcall_testkit::dir::TestDir;

use crate::PROGRAM;

/// A home, and a project to work in.
pub(crate) struct Place(TestDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TestDir::with(&[
            ("home/.keep", ""),
            ("project/a.txt", "one\n"),
        ]))
    }

    /// Whether the project has a file of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.at("project").join(name).exists()
    }

    /// Writes a file for its owner alone.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        self.write_private(name, text)
    }

    /// This program, which sees this home and this project, and nothing else of the environment.
    pub(crate) fn toolcall(&self, args: &[&str]) -> Command {
        self.command(PROGRAM, args)
    }

    /// How it ended and what came out, with the temporary folder's name taken out of it.
    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let (code, text, complaint) = ended(self.toolcall(args).output().unwrap());
        (code, self.steady(&text, "…"), self.steady(&complaint, "…"))
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

impl std::ops::Deref for Place {
    type Target = TestDir;

    fn deref(&self) -> &TestDir {
        &self.0
    }
}

/// How it ended and what came out.
pub(crate) fn ended(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}
