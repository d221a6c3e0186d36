//! The assertions of each case about titles, output and processes.
//! A case that is not named here fails.

use std::fs;

use serde_json::{Value, json};
use toolcall::text::is_hidden;
use toolcall::{AskAll, Content, Ending, FileBody, FileChange, FileEdit, Input};
use toolcall_testkit::process::{MARK, Process, fresh_mark, marked};

use crate::hostile::Verdict;
use crate::hostile::case::Case;
use crate::hostile::fixture::CallRecord;

const MIB: u64 = 1024 * 1024;

pub(crate) async fn judge(name: &str, case: &Case) -> Verdict {
    match &name[..3] {
        "001" | "003" | "004" | "005" | "007" | "009" => title(case).await,
        "013" => escapes(case).await,
        "014" => flood(case).await,
        "017" => split_character(case).await,
        "018" => bad_characters(case).await,
        "021" | "022" | "023" => will_not_end(case).await,
        "024" => Verdict::Skipped("commands have no limit of processes, and this would need one"),
        "025" => out_of_memory(case).await,
        "027" => nobody_to_ask(case).await,
        "029" => signal(case).await,
        "030" => no_foreign_files(case).await,
        "033" => hidden_in_an_edit(case).await,
        other => panic!("{other} is not in the table"),
    }
}

/// Runs a command that the user approved.
async fn run(case: &Case, input: Value) -> CallRecord {
    case.fixture.call(AskAll, "run_command", input).await
}

/// Text shown to the user contains no hidden characters; the model's request is stored unchanged.
async fn title(case: &Case) -> Verdict {
    let text = case.shown_text();
    for (tool, input) in [
        ("run_command", json!({"command": text, "timeout": 60})),
        ("thinking", json!({"thought": text})),
        ("read_file", json!({"path": text})),
    ] {
        let record = case.fixture.call(AskAll, tool, input.clone()).await;
        for line in record.lines_for_people() {
            assert!(!line.contains(is_hidden), "{tool}: {line:?}");
        }
        assert!(
            !record.reason().contains(is_hidden),
            "{:?}",
            record.reason()
        );
        assert_eq!(record.outcome.call.input(), Some(&Input::from(input)));
    }
    Verdict::Passed
}

/// The bytes are preserved for a terminal. Clients without one get no escapes; the tests of
/// `toolcall-acp` check that.
async fn escapes(case: &Case) -> Verdict {
    let record = run(case, case.input()).await;
    assert!(record.is_completed(), "{}", record.reason());
    for line in record.lines_for_people() {
        assert!(!line.contains(is_hidden), "{line:?}");
    }
    let raw = record.outcome.call.output().pieces().concat();
    assert_eq!(raw, b"\x1b]52;c;x\x07");
    Verdict::Passed
}

async fn flood(case: &Case) -> Verdict {
    let (before, mark) = (Process::own().peak_memory(), fresh_mark());
    let record = run(case, timed(case, &mark)).await;
    assert_timed_out(&record);
    assert_eq!(marked(&mark), [0; 0]);
    let output = record.outcome.call.output();
    assert!(output.omitted() > 0);
    assert!(output.text().contains("left out"), "{}", output.text());
    assert!(record.for_model().len() < 1_000_000);
    assert!(Process::own().peak_memory() - before < 64 * MIB);
    Verdict::Passed
}

/// The command of a case with a marker, and a timeout of a second.
fn timed(case: &Case, mark: &str) -> Value {
    let mut input = case.input();
    input["timeout"] = 1.into();
    input["env"] = json!({MARK: mark});
    input
}

fn assert_timed_out(record: &CallRecord) {
    let ending = record.outcome.ending();
    assert!(matches!(ending, Ending::TimedOut { .. }), "{ending:?}");
}

async fn split_character(case: &Case) -> Verdict {
    let record = run(case, case.input()).await;
    assert!(
        record.for_model().contains('\u{20ac}'),
        "{}",
        record.for_model()
    );
    Verdict::Passed
}

async fn bad_characters(case: &Case) -> Verdict {
    let record = run(case, case.input()).await;
    assert!(record.is_completed(), "{}", record.reason());
    assert_eq!(record.outcome.call.output().total(), 64);
    assert!(
        record.for_model().contains('\u{fffd}'),
        "{}",
        record.for_model()
    );
    Verdict::Passed
}

async fn will_not_end(case: &Case) -> Verdict {
    let mark = fresh_mark();
    let record = run(case, timed(case, &mark)).await;
    assert_timed_out(&record);
    assert_eq!(marked(&mark), [0; 0]);
    Verdict::Passed
}

/// We set no memory limit, so the command sets its own. Exceeding it fails the command.
async fn out_of_memory(case: &Case) -> Verdict {
    let before = Process::own().peak_memory();
    let input = case.input();
    let command = input["command"].as_str().unwrap();
    let command = format!("ulimit -v 1000000; {command}");
    let record = run(case, json!({"command": command, "timeout": 60})).await;
    assert_eq!(record.questions.len(), 1);
    let printed = record.outcome.call.output().text();
    if record.reason().contains("exit code 127") {
        return Verdict::Skipped("its program is not here");
    }
    assert!(
        record.reason().contains("exit code 1"),
        "{}",
        record.reason()
    );
    assert!(printed.contains("MemoryError"), "{printed}");
    assert!(Process::own().peak_memory() - before < 64 * MIB);
    Verdict::Passed
}

/// The table's programs may not be installed, and one of them would use the network; a shell shows
/// the same: no terminal, and no prompt.
async fn nobody_to_ask(case: &Case) -> Verdict {
    let command = "(: </dev/tty) 2>&1; cat; echo $GIT_TERMINAL_PROMPT ${SSH_ASKPASS-unset}";
    let record = run(case, json!({"command": command, "timeout": 60})).await;
    assert!(record.is_completed(), "{}", record.reason());
    let printed = record.outcome.call.output().text();
    assert!(printed.ends_with("0 unset\n"), "{printed}");
    assert!(printed.contains("/dev/tty"), "{printed}");
    Verdict::Passed
}

async fn signal(case: &Case) -> Verdict {
    let record = run(case, case.input()).await;
    assert!(record.reason().contains("signal 9"), "{}", record.reason());
    let record = run(case, json!({"command": "exit 137"})).await;
    assert!(
        record.reason().contains("exit code 137"),
        "{}",
        record.reason()
    );
    Verdict::Passed
}

/// Only the three streams, and the directory that the program itself reads.
async fn no_foreign_files(case: &Case) -> Verdict {
    let record = run(case, case.input()).await;
    assert!(record.is_completed(), "{}", record.reason());
    let printed = record.outcome.call.output().text();
    let open = printed.lines().filter(|line| line.contains(" -> "));
    let foreign = open.filter(|line| !line.contains("/proc/"));
    assert_eq!(foreign.count(), 3, "{printed}");
    Verdict::Passed
}

/// What is shown is what is written, byte for byte.
async fn hidden_in_an_edit(case: &Case) -> Verdict {
    let path = case.fixture.path("a");
    fs::write(&path, "x\n").unwrap();
    let record = case.fixture.call(AskAll, case.tool(), case.input()).await;
    assert!(record.is_completed(), "{}", record.reason());
    let preview = &record.questions[0].subject.intent.preview;
    let shown: Vec<&str> = preview.iter().filter_map(after).collect();
    assert_eq!(shown, ["y\u{202e}\n"]);
    assert_eq!(fs::read_to_string(path).unwrap(), shown[0]);
    Verdict::Passed
}

fn after(content: &Content) -> Option<&str> {
    match content {
        Content::Edit(FileEdit {
            change:
                FileChange::Modified {
                    after: FileBody::Text(after),
                    ..
                },
            ..
        }) => Some(after),
        Content::Edit(_)
        | Content::Text(_)
        | Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Terminal(_) => None,
    }
}
