//! Cases of the tools that read files and directories.
//! They change nothing.

use expect_test::expect;
use serde_json::json;

use super::CallCase;

pub(super) fn cases() -> Vec<CallCase> {
    vec![
        CallCase::succeeds(
            "read_file",
            json!({"path": "README.md"}),
            expect![[r#"
                  title: Read README.md
                  kind: read
                  rawInput: {"path":"README.md"}
                  at: /project/README.md
                pending
                in_progress
                completed
                  | # Tea
                  | 
                  | How to make tea.
                  | `README.md`: lines 1 to 3 of 3, 24 bytes in all
                  rawOutput: {"path":"/project/README.md","firstLine":1,"lastLine":3,"totalLines":3,"bytes":24}
            "#]],
        ),
        CallCase::succeeds(
            "read_file",
            json!({"path": "notes/old.txt", "line": 2, "limit": 2}),
            expect![[r#"
                  title: Read notes/old.txt (lines 2–3)
                  kind: read
                  rawInput: {"path":"notes/old.txt","line":2,"limit":2}
                  at: /project/notes/old.txt:2
                pending
                in_progress
                completed
                  | two
                  | three
                  | `notes/old.txt`: lines 2 to 3 of 3, 14 bytes in all
                  rawOutput: {"path":"/project/notes/old.txt","firstLine":2,"lastLine":3,"totalLines":3,"bytes":14}
            "#]],
        ),
        CallCase::fails(
            "read_file",
            json!({"path": "README.txt"}),
            expect![[r#"
                  title: Read README.txt
                  kind: read
                  rawInput: {"path":"README.txt"}
                  at: /project/README.txt
                pending
                in_progress
                failed
                  | `/project/README.txt` does not exist
            "#]],
        ),
        CallCase::fails(
            "read_file",
            json!({"path": "../state/spills"}),
            expect![[r#"
                  title: Read ../state/spills
                  kind: read
                  rawInput: {"path":"../state/spills"}
                pending
                failed
                  | `/state/spills` is outside the folders of this session
            "#]],
        ),
        CallCase::succeeds(
            "list_directory",
            json!({"path": ".", "depth": 2}),
            expect![[r#"
                  title: List .
                  kind: read
                  rawInput: {"path":".","depth":2}
                  at: /project
                pending
                in_progress
                completed
                  | .: 2 folders, 4 files.
                  | README.md
                  | notes/
                  | notes/old.txt
                  | src/
                  | src/lib.rs
                  | src/main.rs
                  rawOutput: {"path":".","folders":2,"files":4,"others":0,"hidden":0,"total":6,"truncated":false,"entries":["README.md","notes/","notes/old.txt","src/","src/lib.rs","src/main.rs"]}
            "#]],
        ),
        CallCase::fails(
            "list_directory",
            json!({"path": "README.md"}),
            expect![[r#"
                  title: List README.md
                  kind: read
                  rawInput: {"path":"README.md"}
                  at: /project/README.md
                pending
                in_progress
                failed
                  | `/project/README.md` is a file, not a folder; give the folder it is in
            "#]],
        ),
        CallCase::succeeds(
            "find_path",
            json!({"pattern": "*.rs", "path": "src"}),
            expect![[r#"
                  title: Find "*.rs" in src
                  kind: search
                  rawInput: {"pattern":"*.rs","path":"src"}
                  at: /project/src/lib.rs
                  at: /project/src/main.rs
                pending
                in_progress
                completed
                  | 2 paths in src match `*.rs`, the newest first.
                  | src/lib.rs
                  | src/main.rs
                  rawOutput: {"paths":["src/lib.rs","src/main.rs"],"total":2,"truncated":false}
            "#]],
        ),
        CallCase::fails(
            "find_path",
            json!({"pattern": "*.{rs"}),
            expect![[r#"
                  title: Find "*.{rs"
                  kind: search
                  rawInput: {"pattern":"*.{rs"}
                pending
                failed
                  | `*.{rs` is no valid glob pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?); write a special character that is meant itself as `[*]`
            "#]],
        ),
        CallCase::succeeds(
            "search_files",
            json!({"query": "TODO", "path": "src"}),
            expect![[r#"
                  title: Search "TODO" in src
                  kind: search
                  rawInput: {"query":"TODO","path":"src"}
                  at: /project/src/main.rs:2
                pending
                in_progress
                completed
                  | 1 line matches `TODO` in 1 file (2 files searched in src).
                  | src/main.rs:2:     // TODO: boil water
                  rawOutput: {"matches":[{"path":"src/main.rs","line":2,"text":"    // TODO: boil water"}],"totalMatches":1,"totalFiles":1,"filesSearched":2,"truncated":false}
            "#]],
        ),
        CallCase::succeeds(
            "search_files",
            json!({"query": "[Tt]ea", "regex": true, "includePattern": "*.md"}),
            expect![[r##"
                  title: Search "[Tt]ea" (*.md)
                  kind: search
                  rawInput: {"query":"[Tt]ea","regex":true,"includePattern":"*.md"}
                  at: /project/README.md:1
                  at: /project/README.md:3
                pending
                in_progress
                completed
                  | 2 lines match `[Tt]ea` in 1 file (1 file searched in .).
                  | README.md:1: # Tea
                  | README.md:3: How to make tea.
                  rawOutput: {"matches":[{"path":"README.md","line":1,"text":"# Tea"},{"path":"README.md","line":3,"text":"How to make tea."}],"totalMatches":2,"totalFiles":1,"filesSearched":1,"truncated":false}
            "##]],
        ),
        CallCase::fails(
            "search_files",
            json!({"query": "(", "regex": true}),
            expect![[r#"
                  title: Search "("
                  kind: search
                  rawInput: {"query":"(","regex":true}
                pending
                failed
                  | the query is no valid regular expression: regex parse error: (?:() ^ error: unclosed group; correct it, or set `regex` to false for plain text
            "#]],
        ),
        CallCase::fails(
            "search_files",
            json!({"query": "TODO", "path": "lib"}),
            expect![[r#"
                  title: Search "TODO" in lib
                  kind: search
                  rawInput: {"query":"TODO","path":"lib"}
                  at: /project/lib
                pending
                in_progress
                failed
                  | `/project/lib` does not exist; list the folder above it to see what does
            "#]],
        ),
    ]
}
