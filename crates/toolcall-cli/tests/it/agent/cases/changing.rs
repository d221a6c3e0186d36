//! Cases in which the model changes files: it edits, writes, deletes and moves.
//! Each names the file that must exist afterwards.

use super::{ALWAYS, Case, DONE, NO, PLAIN, REFUSED};
use crate::agent::client::ClientFeatures;

const EDIT: &str = "
- - call: {tool: read_file, input: {path: src/main.py}}
  - call:
      tool: edit_file
      input: {path: src/main.py, edits: [{type: replace, oldText: a - b, newText: a + b}]}
  - say: Fixed.
";
const EDITED: &str = "def add(a, b):\n    return a + b\n\nprint(add(2, 3))\n";
const UNTOUCHED: &str = "def add(a, b):\n    return a - b\n\nprint(add(2, 3))\n";

const WRITE: &str = "
- - call: {tool: write_file, input: {path: new/notes.md, content: \"# Notes\\n\\n✓\\n\"}}
  - say: Written.
";
const NOTES: &str = "# Notes\n\n✓\n";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "edit",
        script: EDIT,
        call_statuses: &[("read_file", DONE), ("edit_file", DONE)],
        questions: 1,
        file: Some(("src/main.py", Some(EDITED))),
        ..PLAIN
    },
    Case {
        name: "edit-fs",
        script: EDIT,
        features: ClientFeatures::Files,
        call_statuses: &[("read_file", DONE), ("edit_file", DONE)],
        questions: 1,
        file: Some(("src/main.py", Some(EDITED))),
        ..PLAIN
    },
    Case {
        name: "edit-reject",
        script: EDIT,
        behavior: NO,
        call_statuses: &[("read_file", DONE), ("edit_file", REFUSED)],
        questions: 1,
        file: Some(("src/main.py", Some(UNTOUCHED))),
        ..PLAIN
    },
    Case {
        name: "edit-always",
        script: "
- - call:
      tool: edit_file
      input: {path: src/main.py, edits: [{type: replace, oldText: a - b, newText: a + b}]}
  - call:
      tool: edit_file
      input: {path: src/main.py, edits: [{type: replace, oldText: '2, 3', newText: '4, 5'}]}
  - say: Two edits.
",
        behavior: ALWAYS,
        call_statuses: &[("edit_file", DONE), ("edit_file", DONE)],
        questions: 1,
        file: Some((
            "src/main.py",
            Some("def add(a, b):\n    return a + b\n\nprint(add(4, 5))\n"),
        )),
        ..PLAIN
    },
    Case {
        name: "edit-twice-at-once",
        script: "
- - calls:
      - tool: edit_file
        input: {path: src/main.py, edits: [{type: replace, oldText: a - b, newText: a * b}]}
      - tool: edit_file
        input: {path: src/main.py, edits: [{type: replace, oldText: a * b, newText: a + b}]}
  - say: Two edits.
",
        call_statuses: &[("edit_file", DONE), ("edit_file", DONE)],
        questions: 2,
        file: Some(("src/main.py", Some(EDITED))),
        ..PLAIN
    },
    Case {
        name: "edit-accepted",
        script: EDIT,
        mode: "accept-edits",
        call_statuses: &[("read_file", DONE), ("edit_file", DONE)],
        file: Some(("src/main.py", Some(EDITED))),
        ..PLAIN
    },
    Case {
        name: "edit-read-only",
        script: EDIT,
        mode: "read-only",
        call_statuses: &[("read_file", DONE), ("edit_file", REFUSED)],
        file: Some(("src/main.py", Some(UNTOUCHED))),
        ..PLAIN
    },
    Case {
        name: "write",
        script: WRITE,
        call_statuses: &[("write_file", DONE)],
        questions: 1,
        file: Some(("new/notes.md", Some(NOTES))),
        ..PLAIN
    },
    Case {
        name: "write-fs",
        script: WRITE,
        features: ClientFeatures::Files,
        call_statuses: &[("write_file", DONE)],
        questions: 1,
        file: Some(("new/notes.md", Some(NOTES))),
        ..PLAIN
    },
    Case {
        name: "write-reject",
        script: WRITE,
        behavior: NO,
        call_statuses: &[("write_file", REFUSED)],
        questions: 1,
        file: Some(("new/notes.md", None)),
        ..PLAIN
    },
    Case {
        name: "delete",
        script: "
- - call: {tool: delete_file, input: {path: hello.txt}}
  - say: Gone.
",
        call_statuses: &[("delete_file", DONE)],
        questions: 1,
        file: Some(("hello.txt", None)),
        ..PLAIN
    },
    Case {
        name: "move",
        script: "
- - call: {tool: move_file, input: {from: hello.txt, to: hallo.txt}}
  - say: Moved.
",
        call_statuses: &[("move_file", DONE)],
        questions: 1,
        file: Some(("hallo.txt", Some("Hello, world!\n"))),
        ..PLAIN
    },
];
