//! Cases of the tools that run commands, and of those that watch and stop them.
//! Every process has ended when a case ends.

use expect_test::expect;
use serde_json::json;

use super::CallCase;

pub(super) fn cases() -> Vec<CallCase> {
    vec![
        CallCase::succeeds(
            "run_command",
            json!({"command": "printf 'boiling\\n' && cat src/lib.rs"}),
            expect![[r#"
                  title: printf 'boiling\n' && cat src/lib.rs
                  kind: execute
                  rawInput: {"command":"printf 'boiling\\n' && cat src/lib.rs"}
                pending
                asked
                  | ```sh
                  | printf 'boiling\n' && cat src/lib.rs
                  | ```
                  | in `/project`
                in_progress
                completed
                  | it ended with exit code 0
                  | ```
                  | boiling
                  | //! Tea.
                  | ```
                  rawOutput: {"exitCode":0,"signal":null,"cwd":"/project"}
            "#]],
        ),
        CallCase::fails(
            "run_command",
            json!({"command": "cat tea.txt"}),
            expect![[r#"
                  title: cat tea.txt
                  kind: execute
                  rawInput: {"command":"cat tea.txt"}
                pending
                asked
                  | ```sh
                  | cat tea.txt
                  | ```
                  | in `/project`
                in_progress
                failed
                  | the command failed with exit code 1
                  | ```
                  | cat: tea.txt: No such file or directory
                  | ```
                  rawOutput: {"exitCode":1,"signal":null,"cwd":"/project"}
            "#]],
        ),
        CallCase::fails(
            "run_command",
            json!({"command": "kill -9 $$", "cwd": "src"}),
            expect![[r#"
                  title: kill -9 $$
                  kind: execute
                  rawInput: {"command":"kill -9 $$","cwd":"src"}
                pending
                asked
                  | ```sh
                  | kill -9 $$
                  | ```
                  | in `/project/src`
                  | Not fully understood: an expansion (`$`) at byte 8; a shell would run it as it stands.
                in_progress
                failed
                  | signal 9 ended the command
                  rawOutput: {"exitCode":null,"signal":"SIGKILL","cwd":"/project/src"}
            "#]],
        ),
        CallCase::fails(
            "run_command",
            json!({"command": "pwd", "cwd": "/"}),
            expect![[r#"
                  title: pwd
                  kind: execute
                  rawInput: {"command":"pwd","cwd":"/"}
                pending
                failed
                  | `/` is outside the folders of this session
            "#]],
        ),
        // Terminal control sequences must not reach a chat.
        CallCase::succeeds(
            "run_command",
            json!({"command": "printf '\\033]52;c;x\\007\\033[31mred\\033[0m'"}),
            expect![[r#"
                  title: printf '\033]52;c;x\007\033[31mred\033[0m'
                  kind: execute
                  rawInput: {"command":"printf '\\033]52;c;x\\007\\033[31mred\\033[0m'"}
                pending
                asked
                  | ```sh
                  | printf '\033]52;c;x\007\033[31mred\033[0m'
                  | ```
                  | in `/project`
                in_progress
                completed
                  | it ended with exit code 0
                  | ```
                  | red
                  | ```
                  rawOutput: {"exitCode":0,"signal":null,"cwd":"/project"}
            "#]],
        ),
        CallCase::succeeds(
            "command_output",
            json!({"id": "1", "wait": 60}),
            expect![[r#"
                  title: Look at background command 1
                  kind: read
                  rawInput: {"id":"1","wait":60}
                pending
                in_progress
                completed
                  | ready
                  | background command 1 ended with exit code 0; 5 bytes of new output
                  rawOutput: {"id":"1","status":"ended","exitCode":0,"bytes":5,"skipped":0}
            "#]],
        )
        .after(
            "run_command",
            json!({"command": "printf ready", "background": true}),
        ),
        CallCase::fails(
            "command_output",
            json!({"id": "7"}),
            expect![[r#"
                  title: Look at background command 7
                  kind: read
                  rawInput: {"id":"7"}
                pending
                failed
                  | there is no background command `7`
            "#]],
        ),
        CallCase::succeeds(
            "stop_command",
            json!({"id": "1"}),
            expect![[r#"
                  title: Stop background command 1
                  kind: execute
                  rawInput: {"id":"1"}
                pending
                in_progress
                completed
                  | background command 1 was stopped by signal 15
                  rawOutput: {"id":"1","status":"stopped"}
            "#]],
        )
        .after(
            "run_command",
            json!({"command": "touch begun; sleep 1000", "background": true}),
        )
        .after(
            "run_command",
            json!({"command": "until [ -e begun ]; do sleep 0.01; done"}),
        ),
        CallCase::fails(
            "stop_command",
            json!({"id": "seven"}),
            expect![[r#"
                  title: Stop background command seven
                  kind: execute
                  rawInput: {"id":"seven"}
                pending
                failed
                  | there is no background command `seven`
            "#]],
        ),
    ]
}
