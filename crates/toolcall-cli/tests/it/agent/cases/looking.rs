//! Cases in which the model reads, searches, plans and thinks.
//! Nothing is changed.

use super::{Case, DONE, PLAIN};
use crate::agent::client::ClientFeatures;

const READ: &str = "
- - say: I will read it.
  - call: {tool: read_file, input: {path: hello.txt}}
  - say: It says hello.
";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "read",
        script: READ,
        call_statuses: &[("read_file", DONE)],
        ..PLAIN
    },
    Case {
        name: "read-fs",
        script: READ,
        features: ClientFeatures::Files,
        call_statuses: &[("read_file", DONE)],
        ..PLAIN
    },
    Case {
        name: "read-everything",
        script: READ,
        features: ClientFeatures::Everything,
        call_statuses: &[("read_file", DONE)],
        ..PLAIN
    },
    Case {
        name: "search",
        script: "
- - call: {tool: search_files, input: {query: TODO}}
  - call: {tool: find_path, input: {pattern: '*.py'}}
  - call: {tool: list_directory, input: {path: src}}
  - say: One thing is left to do.
",
        call_statuses: &[
            ("search_files", DONE),
            ("find_path", DONE),
            ("list_directory", DONE),
        ],
        ..PLAIN
    },
    Case {
        name: "parallel",
        script: "
- - calls:
      - {tool: read_file, input: {path: hello.txt}}
      - {tool: read_file, input: {path: src/main.py}}
      - {tool: read_file, input: {path: src/other.py}}
  - say: Read.
",
        call_statuses: &[
            ("read_file", DONE),
            ("read_file", DONE),
            ("read_file", DONE),
        ],
        ..PLAIN
    },
    Case {
        name: "plan",
        script: "
- - call:
      tool: todo_write
      input: {todos: [{content: Look, status: in_progress}, {content: Change, status: pending}]}
  - call:
      tool: todo_write
      input: {todos: [{content: Look, status: completed}, {content: Change, status: in_progress}]}
  - say: Planned.
",
        call_statuses: &[("todo_write", DONE), ("todo_write", DONE)],
        ..PLAIN
    },
    Case {
        name: "think",
        script: "
- - think: This is hard.
  - call: {tool: thinking, input: {thought: It is not that hard.}}
  - say: Done thinking.
",
        call_statuses: &[("thinking", DONE)],
        ..PLAIN
    },
    Case {
        name: "stream",
        script: "
- - think: Slowly.
    stream: {pieces: 5, delay_ms: 1}
  - say: A sentence that comes in many pieces.
    stream: {pieces: 10, delay_ms: 1}
  - call: {tool: read_file, input: {path: hello.txt}}
    stream: {pieces: 10, delay_ms: 1}
  - say: Done.
",
        call_statuses: &[("read_file", DONE)],
        ..PLAIN
    },
];
