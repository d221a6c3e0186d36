//! A tool that runs the tests and says how far it is.
//! It prints what it would print in a terminal; who reads that is not its business.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{Command, Intent, Kind, Look, Progress, Scope, Tool, ToolError};

use crate::demo::pace::Pace;

const TESTS: [&str; 5] = [
    "greets",
    "greets_nobody",
    "parts",
    "parts_in_french",
    "is_polite",
];

/// Runs the tests of the project.
pub(crate) struct RunTests {
    pub(crate) pace: Pace,
}

/// Nothing to say.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {}

impl Tool for RunTests {
    const NAME: &'static str = "run_tests";
    const DESCRIPTION: &'static str = "Runs all tests of the project.";
    type Input = Input;
    type Output = String;

    async fn prepare(&self, _input: &Input, look: &Look) -> Result<Intent, ToolError> {
        let command = Command::unread("cargo test", look.path("."));
        Ok(Intent::new(Kind::Execute, "Run `cargo test`").running(command))
    }

    async fn run(&self, _input: Input, scope: &Scope) -> Result<String, ToolError> {
        for (done, test) in (1..).zip(TESTS) {
            self.pace.pause(260).await;
            scope.print(format!("test {test} ... ok\n"));
            let progress = Progress::at(f64::from(done)).of(TESTS.len() as f64);
            scope.progress(progress.saying(format!("{done} of {} tests", TESTS.len())));
        }
        Ok(format!("{} tests passed", TESTS.len()))
    }
}
