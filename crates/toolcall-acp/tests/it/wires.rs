//! Recordings of real agents: their findings, and how their calls end.
//! It must not rate an agent: the snapshots show what it sent.

use expect_test::{Expect, expect};
use serde_json::Value;
use toolcall::ToolCall;
use toolcall_acp::finding::Finding;
use toolcall_acp::lint::{Direction, Frame, lint};
use toolcall_acp::v1::decode::decode_plan;

use crate::fold::Folded;

/// One recorded message.
struct Recorded {
    direction: Direction,
    message: Value,
}

/// A recording: a line `{"dir": "a2c"|"c2a", "msg": {…}}` for each message.
fn recording(text: &str) -> Vec<Recorded> {
    let recorded = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let direction = match line["dir"].as_str() {
            Some("a2c") => Direction::FromAgent,
            _ => Direction::FromClient,
        };
        Recorded {
            direction,
            message: line["msg"].take(),
        }
    };
    text.lines().map(recorded).collect()
}

fn frames(recorded: &[Recorded]) -> impl Iterator<Item = Frame<'_>> {
    recorded.iter().map(|recorded| Frame {
        direction: recorded.direction,
        message: &recorded.message,
    })
}

fn fold(recorded: &[Recorded]) -> Folded {
    let mut folded = Folded::default();
    for message in recorded.iter().map(|recorded| &recorded.message) {
        let params = &message["params"];
        let report = match message["method"].as_str() {
            Some("session/update") if is_about_a_call(&params["update"]) => &params["update"],
            Some("session/request_permission") => &params["toolCall"],
            _ => continue,
        };
        let session = params["sessionId"].as_str().unwrap_or_default();
        folded.take(session, report);
    }
    folded
}

fn is_about_a_call(update: &Value) -> bool {
    matches!(
        update["sessionUpdate"].as_str(),
        Some("tool_call" | "tool_call_update")
    )
}

fn check(name: &str, expected: Expect) {
    let text = std::fs::read_to_string(format!("tests/it/wires/{name}.ndjson")).unwrap();
    let recorded = recording(&text);
    let folded = fold(&recorded);
    assert_eq!(folded.irregular, []);
    let found = lint(frames(&recorded));
    for finding in &folded.findings {
        let is_same = |other: &Finding| other.rule == finding.rule && other.call == finding.call;
        assert!(
            found.iter().any(is_same),
            "only the decoder says: {finding}"
        );
    }
    let calls = folded.calls.iter().map(short);
    let lines = calls.chain(plans(&recorded));
    let lines = lines.chain(found.iter().map(|finding| format!("! {finding}")));
    expected.assert_eq(&lines.map(|line| line + "\n").collect::<String>());
}

fn short(call: &ToolCall) -> String {
    let ending = match call.finish() {
        Some(finish) => {
            let reason = finish.ending.reason();
            let reason = reason.map_or(String::new(), |reason| format!(": {}", line(&reason)));
            let (content, structured) = (&finish.result.content, &finish.result.structured);
            let left = format!(
                "{} content, structured {}",
                content.len(),
                structured.is_some()
            );
            format!("{}{reason} ({left})", finish.ending.name())
        }
        None => format!("open, {:?}", call.status()),
    };
    let (id, tool, kind, title) = (call.id(), call.tool(), call.kind(), line(call.title()));
    let (exit, printed) = (call.exit(), call.output().total());
    format!("{id} {tool:?} {kind:?} {title:?} exit {exit:?} printed {printed} -> {ending}")
}

fn line(text: &str) -> String {
    toolcall::text::clean_line(text, 60)
}

fn plans(recorded: &[Recorded]) -> Vec<String> {
    let updates = recorded
        .iter()
        .map(|recorded| &recorded.message["params"]["update"]);
    let plans = updates.filter(|update| update["sessionUpdate"] == "plan");
    let shown = |update: &Value| {
        let plan = decode_plan(update).unwrap().plan;
        let entries = plan.entries.iter();
        let entries = entries.map(|entry| format!("{} {:?}", entry.content, entry.status));
        format!("plan: {}", entries.collect::<Vec<_>>().join(", "))
    };
    plans.map(shown).collect()
}

#[test]
fn claude_edit() {
    check(
        "claude-edit",
        expect![[r#"
        toolu_cc0c8f70ef874c769e9d "Read" Read "Read src/main.py" exit None printed 0 -> completed (1 content, structured true)
        toolu_8943026a599d45ada070 "Edit" Edit "Edit src/main.py" exit None printed 0 -> completed (0 content, structured true)
        ! #11 started: `toolu_cc0c8f70ef874c769e9d`: it completed and was never `in_progress`
        ! #18 started: `toolu_8943026a599d45ada070`: it completed and was never `in_progress`
    "#]],
    );
}

#[test]
fn claude_run_fail() {
    check(
        "claude-run-fail",
        expect![[r#"
        toolu_b50480621af94cbb970c "Bash" Execute "echo oops >&2; touch x; exit 3" exit None printed 0 -> failed: Exit code 3 oops (0 content, structured true)
    "#]],
    );
}

#[test]
fn cline_edit() {
    check(
        "cline-edit",
        expect![[r#"
        call_c29f92de81 "" Read "read_files: {\"files\":[{\"path\":\"/w/cline-edit/src/main.py\"}]}" exit None printed 0 -> completed (0 content, structured true)
        call_b70625278a "" Edit "editor: {\"path\":\"/w/cline-edit/src/main.py\",\"old_text\":..." exit None printed 0 -> completed (0 content, structured true)
        ! #8 announced-first: `call_c29f92de81`: `tool_call_update` came before any `tool_call`
        ! #13 empty-completion: `call_c29f92de81`: it completed with nothing in `content`
        ! #14 announced-first: `call_b70625278a`: `tool_call_update` came before any `tool_call`
        ! #15 permission-hides-diff: `call_b70625278a`: the permission request is about an edit and shows no diff
        ! #19 empty-completion: `call_b70625278a`: it completed with nothing in `content`
    "#]],
    );
}

#[test]
fn cline_run_reject() {
    check(
        "cline-run-reject",
        expect![[r#"
        call_0804d8be69 "" Execute "run_commands: echo hello from tool && wc -l hello.txt && to…" exit None printed 0 -> failed: failed (0 content, structured false)
        ! #6 announced-first: `call_0804d8be69`: `tool_call_update` came before any `tool_call`
        ! #10 late: `call_0804d8be69`: a report came after the final status
    "#]],
    );
}

#[test]
fn codex_run_fail() {
    check(
        "codex-run-fail",
        expect![[r#"
            exec-b964fd0b-2907-4e0d-8e71-17eaf1c3eeef "exec_command" Execute "echo oops >&2; touch x; exit 3" exit Some(Code(3)) printed 5 -> failed: exit code 3 (1 content, structured false)
        "#]],
    );
}

#[test]
fn codex_cancel_run() {
    check(
        "codex-cancel-run",
        expect![[r#"
        exec-d0318616-018b-4894-a740-b5c819d8efb0 "" Execute "touch c.txt; echo started; sleep 40; echo finished" exit None printed 0 -> open, Running
        ! #11 one-ending: `exec-d0318616-018b-4894-a740-b5c819d8efb0`: the turn ended, and the call has not
    "#]],
    );
}

#[test]
fn gemini_edit_reject() {
    check(
        "gemini-edit-reject",
        expect![[r#"
        read_file__read_file_1794728141048_0 "" Read "src/main.py" exit None printed 0 -> completed (0 content, structured false)
        replace__replace_1794728141179_0 "" Edit "src/main.py:     return a - b =>     return a + b" exit None printed 0 -> open, Streaming
        ! #7 empty-completion: `read_file__read_file_1794728141048_0`: it completed with nothing in `content`
        ! #10 ask-after-call: `replace__replace_1794728141179_0`: permission was asked before any `tool_call`
        ! #13 one-ending: `replace__replace_1794728141179_0`: the turn ended, and the call has not
    "#]],
    );
}

#[test]
fn gemini_run() {
    check(
        "gemini-run",
        expect![[r#"
        run_shell_command__run_shell_command_1794728155661_0 "" Execute "echo hello from tool && wc -l hello.txt && touch ran.txt" exit None printed 0 -> completed (0 content, structured false)
        ! #6 ask-after-call: `run_shell_command__run_shell_command_1794728155661_0`: permission was asked before any `tool_call`
        ! #8 started: `run_shell_command__run_shell_command_1794728155661_0`: it completed and was never `in_progress`
        ! #8 empty-completion: `run_shell_command__run_shell_command_1794728155661_0`: it completed with nothing in `content`
    "#]],
    );
}

#[test]
fn goose_run() {
    check(
        "goose-run",
        expect![[r#"
        call_5f6c7ae87b "" Execute "shell · echo hello from tool && wc -l hello.txt && touch ra…" exit None printed 0 -> completed (0 content, structured false)
        ! #19 started: `call_5f6c7ae87b`: it completed and was never `in_progress`
    "#]],
    );
}

#[test]
fn goose_cancel_run() {
    check(
        "goose-cancel-run",
        expect![[r#"
        call_e591ce2cfb "" Execute "shell · touch c.txt; echo started; sleep 40; echo finished" exit None printed 0 -> open, Announced
        ! #15 one-ending: `call_e591ce2cfb`: the turn ended, and the call has not
    "#]],
    );
}

#[test]
fn opencode_cancel_perm() {
    check(
        "opencode-cancel-perm",
        expect![[r#"
        call_3bb7d374f1 "" Execute "echo hello from tool && wc -l hello.txt && touch ran.txt" exit None printed 0 -> failed: Tool execution aborted (0 content, structured true)
    "#]],
    );
}

#[test]
fn pi_run_fail() {
    check(
        "pi-run-fail",
        expect![[r#"
            call_46309d6eff "" Execute "echo oops >&2; touch x; exit 3" exit Some(Code(1)) printed 33 -> failed: exit code 1 (0 content, structured false)
        "#]],
    );
}

#[test]
fn zcodex_run_reject() {
    check(
        "zcodex-run-reject",
        expect![[r#"
        call_aa54aa14fd "" Execute "echo hello from tool && wc -l hello.txt && touch ran.txt" exit None printed 0 -> open, Announced
        ! #8 ask-after-call: `call_aa54aa14fd`: permission was asked before any `tool_call`
        ! #10 one-ending: `call_aa54aa14fd`: the turn ended, and the call has not
    "#]],
    );
}

#[test]
fn zcodex_plan() {
    check(
        "zcodex-plan",
        expect![[r#"
        plan: Read code InProgress, Fix bug Pending
        plan: Read code Completed, Fix bug InProgress
    "#]],
    );
}
