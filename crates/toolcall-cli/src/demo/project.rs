//! The project in memory that the demo works on, and what may be done to it.
//! The rules are made up for the story.

use toolcall::{Intent, MemoryHost, Setting, Touch, Verdict};

/// Where the project lies.
pub(crate) const FOLDER: &str = "/project";

const LIB: &str = "\
use std::fmt::Display;

/// Greets somebody.
pub fn greet(name: &str) -> String {
    format!(\"Hi {name}\")
}

/// Says goodbye.
pub fn part(name: &str) -> String {
    format!(\"Bye {name}\")
}
";

const TESTS: &str = "\
#[test]
fn greets() {
    assert_eq!(greetings::greet(\"Ada\"), \"Hello, Ada!\");
}
";

/// The machine that the tools see.
pub(crate) fn host() -> MemoryHost {
    MemoryHost::default()
        .with_file("/project/src/lib.rs", LIB)
        .with_file("/project/tests/greet.rs", TESTS)
        .with_file("/project/README.md", "# greetings\n\nSays hello.\n")
}

/// Reads and tests pass, `rm -rf` never does, and a person decides about the rest.
pub(crate) fn policy(intent: &Intent, setting: &Setting) -> Verdict {
    if intent.touches.iter().any(removes_folders) {
        let reason = "`rm -rf` is never run in this project; delete single files by name";
        return Verdict::deny("no-rm-rf", reason);
    }
    if intent.touches.iter().all(|touch| is_read(touch, setting)) {
        return Verdict::allow("reads");
    }
    match intent.touches.iter().all(is_test) {
        true => Verdict::allow("tests"),
        false => Verdict::ask("changes", intent),
    }
}

fn removes_folders(touch: &Touch) -> bool {
    matches!(touch, Touch::Runs(command) if command.text.contains("rm -rf"))
}

fn is_read(touch: &Touch, setting: &Setting) -> bool {
    matches!(touch, Touch::Reads(path) if setting.contains(path))
}

fn is_test(touch: &Touch) -> bool {
    matches!(touch, Touch::Runs(command) if &*command.text == "cargo test")
}
