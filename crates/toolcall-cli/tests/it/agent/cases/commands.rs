//! Cases in which the model runs commands, with every way to show their output.
//! No command runs longer than its case.

use super::{ALWAYS, Case, DONE, FAILED, NO, PLAIN, REFUSED};
use crate::agent::client::ClientFeatures;

const RUN: &str = "
- - say: Running.
  - call: {tool: run_command, input: {command: 'echo hello from tool && wc -l hello.txt && touch ran.txt'}}
  - say: Ran.
";

const ONE: &str = "
- - call: {tool: run_command, input: {command: touch ran.txt}}
  - say: Ran.
";

const FAIL: &str = "
- - call: {tool: run_command, input: {command: \"sh -c 'echo oops >&2; exit 3'\"}}
  - say: It failed.
";

const BIG: &str = "
- - call: {tool: run_command, input: {command: seq 1 200000}}
  - say: That was much.
";

const SLOW: &str = "
- - call: {tool: run_command, input: {command: \"sh -c 'for i in 1 2 3; do echo $i; sleep 0.2; done'\"}}
  - say: That was slow.
";

const RAN: Option<(&str, Option<&str>)> = Some(("ran.txt", Some("")));

pub(super) const CASES: &[Case] = &[
    run("run", RUN, ClientFeatures::Nothing, RAN),
    run("run-fs", RUN, ClientFeatures::Files, RAN),
    run("run-terminal", ONE, ClientFeatures::Terminal, RAN),
    run("run-terminal-chain", RUN, ClientFeatures::Terminal, RAN),
    run("run-output", RUN, ClientFeatures::Output, RAN),
    run("run-everything", ONE, ClientFeatures::Everything, RAN),
    run("run-big", BIG, ClientFeatures::Nothing, None),
    run("run-big-output", BIG, ClientFeatures::Output, None),
    run("run-big-terminal", BIG, ClientFeatures::Terminal, None),
    run("run-slow", SLOW, ClientFeatures::Nothing, None),
    run("run-slow-output", SLOW, ClientFeatures::Output, None),
    failing("run-fail", ClientFeatures::Nothing),
    failing("run-fail-output", ClientFeatures::Output),
    failing("run-fail-terminal", ClientFeatures::Terminal),
    Case {
        name: "run-always",
        script: "
- - call: {tool: run_command, input: {command: touch ran.txt}}
  - call: {tool: run_command, input: {command: touch ran.txt}}
  - say: Ran twice.
",
        behavior: ALWAYS,
        call_statuses: &[("run_command", DONE), ("run_command", DONE)],
        questions: 1,
        file: RAN,
        ..PLAIN
    },
    Case {
        name: "run-reject",
        script: RUN,
        behavior: NO,
        call_statuses: &[("run_command", REFUSED)],
        questions: 1,
        file: Some(("ran.txt", None)),
        ..PLAIN
    },
    Case {
        name: "run-denied-by-rule",
        script: ONE,
        policy: "[[deny]]\nrun = 'touch'\n",
        call_statuses: &[("run_command", REFUSED)],
        file: Some(("ran.txt", None)),
        ..PLAIN
    },
    Case {
        name: "run-allowed-by-rule",
        script: ONE,
        policy: "[[allow]]\nrun = 'touch'\nwrite = '*'\n",
        call_statuses: &[("run_command", DONE)],
        file: RAN,
        ..PLAIN
    },
    Case {
        name: "multi",
        script: "
- - call: {tool: read_file, input: {path: src/main.py}}
  - say: Now the edit.
  - call:
      tool: edit_file
      input: {path: src/main.py, edits: [{type: replace, oldText: a - b, newText: a + b}]}
  - call: {tool: run_command, input: {command: touch ran.txt}}
  - say: All done.
",
        call_statuses: &[
            ("read_file", DONE),
            ("edit_file", DONE),
            ("run_command", DONE),
        ],
        questions: 2,
        file: RAN,
        ..PLAIN
    },
    Case {
        name: "parallel-mixed",
        script: "
- - calls:
      - {tool: read_file, input: {path: hello.txt}}
      - {tool: run_command, input: {command: touch ran.txt}}
      - {tool: read_file, input: {path: missing.txt}}
      - {tool: write_file, input: {path: new.txt, content: x}}
  - say: Mixed.
",
        call_statuses: &[
            ("read_file", DONE),
            ("run_command", DONE),
            ("read_file", FAILED),
            ("write_file", DONE),
        ],
        questions: 2,
        file: RAN,
        ..PLAIN
    },
    Case {
        name: "background",
        script: "
- - call: {tool: run_command, input: {command: sleep 600, background: true}}
  - say: It runs.
",
        call_statuses: &[("run_command", DONE)],
        questions: 1,
        ..PLAIN
    },
];

const fn run(
    name: &'static str,
    script: &'static str,
    features: ClientFeatures,
    file: Option<(&'static str, Option<&'static str>)>,
) -> Case {
    Case {
        name,
        script,
        features,
        call_statuses: &[("run_command", DONE)],
        questions: 1,
        file,
        ..PLAIN
    }
}

const fn failing(name: &'static str, features: ClientFeatures) -> Case {
    Case {
        name,
        script: FAIL,
        features,
        call_statuses: &[("run_command", FAILED)],
        questions: 1,
        ..PLAIN
    }
}
