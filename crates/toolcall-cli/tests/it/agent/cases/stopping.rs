//! Cases in which the user cancels: a question, a command, a streaming model, and several calls at once.
//! Nothing runs after any of them.

use super::{Case, FAILED, PLAIN, REFUSED, cancelling};
use crate::agent::client::{CancelTrigger, ClientFeatures};

const SLEEP: &str = "
- - call: {tool: run_command, input: {command: sleep 600}}
  - say: Never said.
";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "cancel-perm",
        script: "
- - call: {tool: write_file, input: {path: new.txt, content: x}}
  - say: Never said.
",
        behavior: cancelling(CancelTrigger::Asked),
        call_statuses: &[("write_file", REFUSED)],
        questions: 1,
        stop: "cancelled",
        file: Some(("new.txt", None)),
        ..PLAIN
    },
    sleeping("cancel-run", ClientFeatures::Nothing),
    sleeping("cancel-run-output", ClientFeatures::Output),
    sleeping("cancel-run-terminal", ClientFeatures::Terminal),
    Case {
        name: "cancel-run-children",
        script: "
- - call: {tool: run_command, input: {command: \"sh -c 'sleep 601 & setsid sleep 602 & sleep 603'\"}}
  - say: Never said.
",
        behavior: cancelling(CancelTrigger::Running(1)),
        call_statuses: &[("run_command", FAILED)],
        questions: 1,
        stop: "cancelled",
        ..PLAIN
    },
    Case {
        name: "cancel-stream",
        script: "
- - say: A long sentence that nobody hears to its end.
    stream: {pieces: 20, delay_ms: 100000}
  - call: {tool: read_file, input: {path: hello.txt}}
",
        behavior: cancelling(CancelTrigger::Speaking),
        call_statuses: &[],
        stop: "cancelled",
        ..PLAIN
    },
    Case {
        name: "cancel-stream-of-a-call",
        script: "
- - call: {tool: write_file, input: {path: new.txt, content: text that nobody waits for}}
    stream: {pieces: 60, delay_ms: 500}
",
        behavior: cancelling(CancelTrigger::Announced),
        call_statuses: &[("write_file", REFUSED)],
        stop: "cancelled",
        file: Some(("new.txt", None)),
        ..PLAIN
    },
    Case {
        name: "cancel-parallel",
        script: "
- - calls:
      - {tool: run_command, input: {command: sleep 600}}
      - {tool: run_command, input: {command: sleep 601}}
  - say: Never said.
",
        policy: "[[allow]]\nrun = 'sleep'\n",
        behavior: cancelling(CancelTrigger::Running(2)),
        call_statuses: &[("run_command", FAILED), ("run_command", FAILED)],
        stop: "cancelled",
        ..PLAIN
    },
];

const fn sleeping(name: &'static str, features: ClientFeatures) -> Case {
    Case {
        name,
        script: SLEEP,
        features,
        behavior: cancelling(CancelTrigger::Running(1)),
        call_statuses: &[("run_command", FAILED)],
        questions: 1,
        stop: "cancelled",
        ..PLAIN
    }
}
