//! Cases of the tools that change files.
//! The policy asks about every change.

use expect_test::expect;
use serde_json::json;

use super::CallCase;

pub(super) fn cases() -> Vec<CallCase> {
    vec![
        CallCase::succeeds(
            "write_file",
            json!({"path": "docs/new.md", "content": "# New\n"}),
            expect![[r##"
                  title: Create docs/new.md
                  kind: edit
                  rawInput: {"path":"docs/new.md","content":"# New\n"}
                  at: /project/docs/new.md
                  announced as: Write docs/new.md
                pending
                asked
                  diff: /project/docs/new.md
                    - "nothing"
                    + "# New\n"
                in_progress
                completed
                  diff: /project/docs/new.md
                    - "nothing"
                    + "# New\n"
                  | created `docs/new.md` (1 line, 6 bytes)
                  rawOutput: {"path":"/project/docs/new.md","change":"created","lines":1,"bytes":6}
            "##]],
        ),
        CallCase::succeeds(
            "write_file",
            json!({"path": "README.md", "content": "# Coffee\n"}),
            expect![[r##"
                  title: Write README.md
                  kind: edit
                  rawInput: {"path":"README.md","content":"# Coffee\n"}
                  at: /project/README.md
                pending
                asked
                  diff: /project/README.md
                    - "# Tea\n\nHow to make tea.\n"
                    + "# Coffee\n"
                in_progress
                completed
                  diff: /project/README.md
                    - "# Tea\n\nHow to make tea.\n"
                    + "# Coffee\n"
                  | wrote `README.md` (1 line, 9 bytes; it had 24 bytes)
                  rawOutput: {"path":"/project/README.md","change":"written","lines":1,"bytes":9}
            "##]],
        ),
        CallCase::succeeds(
            "write_file",
            json!({"path": "src/lib.rs", "content": "//! Tea.\n"}),
            expect![[r#"
                  title: Write src/lib.rs (no change)
                  kind: edit
                  rawInput: {"path":"src/lib.rs","content":"//! Tea.\n"}
                  at: /project/src/lib.rs
                  announced as: Write src/lib.rs
                pending
                in_progress
                completed
                  | `src/lib.rs` holds exactly this already (1 line, 9 bytes); nothing changed
                  rawOutput: {"path":"/project/src/lib.rs","change":"none","lines":1,"bytes":9}
            "#]],
        ),
        CallCase::fails(
            "write_file",
            json!({"path": "src", "content": "x"}),
            expect![[r#"
                  title: Write src
                  kind: edit
                  rawInput: {"path":"src","content":"x"}
                pending
                failed
                  | `/project/src` is a folder, not a file
            "#]],
        ),
        CallCase::succeeds(
            "edit_file",
            json!({"path": "src/main.rs", "edits": [{"type": "replace", "oldText": "// TODO: boil water", "newText": "boil(water);"}]}),
            expect![[r#"
                  title: Edit src/main.rs
                  kind: edit
                  rawInput: {"path":"src/main.rs","edits":[{"type":"replace","oldText":"// TODO: boil water","newText":"boil(water);"}]}
                  at: /project/src/main.rs:2
                pending
                asked
                  diff: /project/src/main.rs
                    - "fn main() {\n    // TODO: boil water\n}\n"
                    + "fn main() {\n    boil(water);\n}\n"
                in_progress
                completed
                  diff: /project/src/main.rs
                    - "fn main() {\n    // TODO: boil water\n}\n"
                    + "fn main() {\n    boil(water);\n}\n"
                  | edited `src/main.rs`: 1 line added, 1 removed
                  | --- src/main.rs
                  | +++ src/main.rs
                  | @@ -1,3 +1,3 @@
                  |  fn main() {
                  | -    // TODO: boil water
                  | +    boil(water);
                  |  }
                  rawOutput: {"path":"/project/src/main.rs","edits":1,"bytes":31,"linesAdded":1,"linesRemoved":1}
            "#]],
        ),
        CallCase::fails(
            "edit_file",
            json!({"path": "src/main.rs", "edits": [{"type": "replace", "oldText": "// TODO: boil milk", "newText": "boil(milk);"}]}),
            expect![[r#"
                  title: Edit src/main.rs
                  kind: edit
                  rawInput: {"path":"src/main.rs","edits":[{"type":"replace","oldText":"// TODO: boil milk","newText":"boil(milk);"}]}
                pending
                failed
                  | `src/main.rs`: edit 1: `oldText` is not in the file. The nearest is line 2: `    // TODO: boil water`
            "#]],
        ),
        CallCase::succeeds(
            "delete_file",
            json!({"path": "notes/old.txt"}),
            expect![[r#"
                  title: Delete notes/old.txt
                  kind: delete
                  rawInput: {"path":"notes/old.txt"}
                  at: /project/notes/old.txt
                pending
                asked
                  | Delete `/project/notes/old.txt`
                  diff: /project/notes/old.txt
                    - "one\ntwo\nthree\n"
                    + ""
                in_progress
                completed
                  | Delete `/project/notes/old.txt`
                  diff: /project/notes/old.txt
                    - "one\ntwo\nthree\n"
                    + ""
                  | deleted `notes/old.txt` (text, 14 bytes)
                  rawOutput: {"path":"/project/notes/old.txt","bytes":14}
            "#]],
        ),
        CallCase::succeeds(
            "delete_file",
            json!({"path": "notes", "recursive": true}),
            expect![[r#"
                  title: Delete notes (a folder, 1 file, 14 bytes)
                  kind: delete
                  rawInput: {"path":"notes","recursive":true}
                  at: /project/notes
                  announced as: Delete notes
                pending
                asked
                  | Delete folder `/project/notes` (1 files, 14 bytes)
                in_progress
                completed
                  | Delete folder `/project/notes` (1 files, 14 bytes)
                  | deleted `notes` (a folder, 1 file, 14 bytes); it is kept as `/state/deleted/NAME`
                  rawOutput: {"path":"/project/notes","bytes":14,"kept":"/state/deleted/NAME"}
            "#]],
        ),
        CallCase::fails(
            "delete_file",
            json!({"path": "notes"}),
            expect![[r#"
                  title: Delete notes
                  kind: delete
                  rawInput: {"path":"notes"}
                pending
                failed
                  | `notes` is a folder; set `recursive` to delete it with its 1 file
            "#]],
        ),
        CallCase::succeeds(
            "move_file",
            json!({"from": "notes/old.txt", "to": "notes/new.txt"}),
            expect![[r#"
                  title: Move notes/old.txt to notes/new.txt
                  kind: move
                  rawInput: {"from":"notes/old.txt","to":"notes/new.txt"}
                  at: /project/notes/old.txt
                  at: /project/notes/new.txt
                pending
                asked
                  | Move `/project/notes/old.txt` to `/project/notes/new.txt`
                in_progress
                completed
                  | Move `/project/notes/old.txt` to `/project/notes/new.txt`
                  | moved `notes/old.txt` to `notes/new.txt`
                  rawOutput: {"from":"/project/notes/old.txt","to":"/project/notes/new.txt"}
            "#]],
        ),
        CallCase::fails(
            "move_file",
            json!({"from": "notes/old.txt", "to": "README.md"}),
            expect![[r#"
                  title: Move notes/old.txt to README.md
                  kind: move
                  rawInput: {"from":"notes/old.txt","to":"README.md"}
                pending
                failed
                  | `README.md` exists already; give a path where nothing is, with the new name
            "#]],
        ),
    ]
}
