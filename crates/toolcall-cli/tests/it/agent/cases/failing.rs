//! Cases in which a call fails: its target does not exist, is not allowed, or its input is invalid.
//! The turn goes on after each of them.

use super::{Case, DONE, FAILED, NO, PLAIN, REFUSED};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "fail-read",
        script: "
- - call: {tool: read_file, input: {path: missing.txt}}
  - call: {tool: read_file, input: {path: hello.txt}}
  - say: The other one is there.
",
        call_statuses: &[("read_file", FAILED), ("read_file", DONE)],
        ..PLAIN
    },
    Case {
        name: "fail-edit",
        script: "
- - call:
      tool: edit_file
      input: {path: src/main.py, edits: [{type: replace, oldText: not there, newText: x}]}
  - say: It was not there.
",
        call_statuses: &[("edit_file", REFUSED)],
        ..PLAIN
    },
    Case {
        name: "fail-badargs",
        script: "
- - call: {tool: read_file, input: {path: 7}}
  - call: {tool: read_file, input: {}}
  - say: That was wrong.
",
        call_statuses: &[("read_file", REFUSED), ("read_file", REFUSED)],
        ..PLAIN
    },
    Case {
        name: "fail-badjson",
        script: "
- - call: {tool: read_file, text: '{\"path\": '}
  - say: That was no JSON.
",
        call_statuses: &[("read_file", REFUSED)],
        ..PLAIN
    },
    Case {
        name: "fail-unknown-tool",
        script: "
- - call: {tool: raed_file, input: {path: hello.txt}}
  - say: There is no such tool.
",
        call_statuses: &[("raed_file", REFUSED)],
        ..PLAIN
    },
    Case {
        name: "outside",
        script: "
- - call: {tool: read_file, input: {path: ../outside/secret.txt}}
  - call: {tool: write_file, input: {path: ../outside/new.txt, content: x}}
  - say: Outside.
",
        behavior: NO,
        call_statuses: &[("read_file", REFUSED), ("write_file", REFUSED)],
        ..PLAIN
    },
    Case {
        name: "fetch",
        script: "
- - call: {tool: fetch, input: {url: 'http://127.0.0.1:9/'}}
  - call: {tool: fetch, input: {url: 'https://example.invalid/'}}
  - say: Nothing there.
",
        behavior: NO,
        call_statuses: &[("fetch", REFUSED), ("fetch", REFUSED)],
        questions: 1,
        ..PLAIN
    },
    Case {
        name: "deny-all",
        script: "
- - call: {tool: run_command, input: {command: touch ran.txt}}
  - call: {tool: write_file, input: {path: new.txt, content: x}}
  - say: Nothing is allowed.
",
        mode: "deny-all",
        call_statuses: &[("run_command", REFUSED), ("write_file", REFUSED)],
        file: Some(("ran.txt", None)),
        ..PLAIN
    },
];
