//! Runs every case, and checks it with two linters and its expected result.
//! `cases.rs` defines the cases.

use serde_json::{Value, json};
use toolcall_acp::lint;
use toolcall_testkit::client::Side;

use crate::PROGRAM;
use crate::agent::cases::{self, Case};
use crate::agent::client::TestClient;
use crate::agent::home::AgentHome;
use crate::agent::linter::{call_statuses, lint_recording};
use crate::recorder::{RecordedLine, Recorder, Recording};

const POLICY: &str = "home/config/toolcall/policy.toml";

#[test]
fn every_recorded_case_is_correct() {
    let cases = cases::all();
    assert!(cases.len() >= 25, "only {} cases", cases.len());
    let problems: Vec<String> = cases.iter().flat_map(problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Loading a session sends all its messages and calls again, in order, before the answer; then it goes on.
#[test]
fn a_loaded_session_is_replayed_before_the_answer() {
    let home = AgentHome::new();
    let case = cases::all().into_iter().find(|case| case.name == "multi");
    let case = case.expect("the case");
    let played = play(&case, &home);
    let session = session_of(&played.recording);
    let mut client = TestClient::initialize(recorder(&case, &home), case.features, case.behavior);
    client.session = session.clone();
    let params = json!({"sessionId": session, "cwd": home.project(), "mcpServers": []});
    let answer = client.ask("session/load", params);
    assert!(answer["result"].is_object(), "{answer}");
    let replayed = call_statuses(client.recorder.frames());
    assert_eq!(replayed.len(), case.call_statuses.len());
    client.prompt("and now?");
    let recording = client.recorder.end();
    assert_eq!(lint_all(&recording), Vec::<String>::new());
    let last = |(name, statuses): &(String, String)| {
        let last = statuses.rsplit(' ').next().unwrap_or_default().to_owned();
        (name.clone(), last)
    };
    let original: Vec<_> = call_statuses(&played.recording.frames)
        .iter()
        .map(last)
        .collect();
    assert_eq!(replayed.iter().map(last).collect::<Vec<_>>(), original);
    home.wait_for_processes(None);
}

/// The tools of a server that the client names are called like the built-in ones.
#[test]
fn the_tools_of_a_server_are_called() {
    let home = AgentHome::new();
    let case = Case {
        name: "mcp",
        script: "
- - call: {tool: self__read_file, input: {path: hello.txt}}
  - say: Read by another.
",
        ..cases::PLAIN
    };
    let mut client = TestClient::initialize(recorder(&case, &home), case.features, case.behavior);
    let args = ["mcp", "serve", "--mode", "allow-all"];
    let server = json!({"name": "self", "command": PROGRAM, "args": args, "env": []});
    client.open(&home.project(), json!([server]));
    client.prompt("go");
    let recording = client.recorder.end();
    assert_eq!(lint_all(&recording), Vec::<String>::new());
    assert_eq!(questions(&recording.frames), 1);
    // The call has the tool's own name; its title names the server.
    let wanted = ("read_file".to_owned(), cases::DONE.to_owned());
    assert_eq!(call_statuses(&recording.frames), [wanted]);
    home.wait_for_processes(None);
}

fn session_of(recording: &Recording) -> Value {
    let messages = recording.frames.iter().map(RecordedLine::message);
    let mut ids = messages.map(|message| message["result"]["sessionId"].clone());
    ids.find(Value::is_string).expect("a session")
}

/// Runs a case, and returns everything that is wrong.
fn problems(case: &Case) -> Vec<String> {
    let home = AgentHome::new();
    let CaseRun {
        stop,
        recording,
        left,
    } = play(case, &home);
    let frames = &recording.frames;
    let mut problems = lint_all(&recording);
    problems.extend(
        left.iter()
            .map(|words| format!("`{words}` is still running")),
    );
    let mut differ = |what: &str, found: String, wanted: String| {
        if found != wanted {
            problems.push(format!("{what}: {found}, not {wanted}"));
        }
    };
    let (mut wanted, mut found) = (case.call_statuses.to_vec(), call_statuses(frames));
    wanted.sort_unstable();
    found.sort_unstable();
    differ("call_statuses", format!("{found:?}"), format!("{wanted:?}"));
    differ(
        "questions",
        questions(frames).to_string(),
        case.questions.to_string(),
    );
    differ("stop", stop, case.stop.to_owned());
    differ(
        "exit code",
        format!("{:?}", recording.code),
        "Some(0)".into(),
    );
    if let Some((file, text)) = case.file {
        let text = text.map(str::to_owned);
        differ(file, format!("{:?}", home.text(file)), format!("{text:?}"));
    }
    problems
        .into_iter()
        .map(|problem| format!("{}: {problem}", case.name))
        .collect()
}

/// The result of running a case.
struct CaseRun {
    stop: String,
    recording: Recording,
    /// Processes that are still running.
    left: Vec<String>,
}

/// Starts the agent of a case.
fn recorder(case: &Case, home: &AgentHome) -> Recorder {
    home.write(POLICY, case.policy);
    let script = home.write("script.yaml", case.script);
    let model = format!("script:{}", script.display());
    Recorder::start(home.agent(&["--model", &model, "--mode", case.mode]))
}

fn play(case: &Case, home: &AgentHome) -> CaseRun {
    let mut client = TestClient::initialize(recorder(case, home), case.features, case.behavior);
    client.open(&home.project(), json!([]));
    let stop = client.prompt("go");
    let mut left = Vec::new();
    if case.stop == "cancelled" {
        left.extend(home.left_behind(Some(client.recorder.id())));
    }
    let recording = client.recorder.end();
    left.extend(home.left_behind(None));
    CaseRun {
        stop: stop.as_str().unwrap_or_default().to_owned(),
        recording,
        left,
    }
}

/// Returns the findings of both linters, and the standard error.
fn lint_all(recording: &Recording) -> Vec<String> {
    let messages: Vec<(Side, Value)> = recording
        .frames
        .iter()
        .map(|frame| (frame.side, frame.message()))
        .collect();
    let seen = messages.iter().map(|(side, message)| lint::Frame {
        direction: match side {
            Side::Agent => lint::Direction::FromAgent,
            Side::Client => lint::Direction::FromClient,
        },
        message,
    });
    let ours = lint::lint(seen).into_iter();
    let mut findings: Vec<String> = ours.map(|finding| format!("lint: {finding:?}")).collect();
    findings.extend(lint_recording(&recording.frames));
    if !recording.complaints.is_empty() {
        findings.push(format!("standard error: {}", recording.complaints));
    }
    findings
}

fn questions(frames: &[RecordedLine]) -> usize {
    let messages = frames.iter().filter(|frame| frame.side == Side::Agent);
    let methods = messages.map(|frame| frame.message()["method"].clone());
    methods
        .filter(|method| method == "session/request_permission")
        .count()
}
