//! Every case played and judged: by a linter of its own, by the one of `toolcall-acp`, and by what it must come to.
//! What a case is stands elsewhere.

use serde_json::{Value, json};
use toolcall_acp::lint;
use toolcall_testkit::client::Side;

use crate::PROGRAM;
use crate::agent::cases::{self, Case};
use crate::agent::client::Client;
use crate::agent::linter::{judge, lives};
use crate::agent::stage::Stage;
use crate::recorder::{Frame, Recorder, Recording};

const POLICY: &str = "home/config/toolcall/policy.toml";

#[test]
fn every_recorded_case_is_whole() {
    let cases = cases::all();
    assert!(cases.len() >= 25, "only {} cases", cases.len());
    let faults: Vec<String> = cases.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Everything that was said and done is told again, in order, before the answer; then it goes on.
#[test]
fn a_loaded_session_is_told_again_before_the_answer() {
    let stage = Stage::new();
    let case = cases::all().into_iter().find(|case| case.name == "multi");
    let case = case.expect("it is there");
    let played = play(&case, &stage);
    let session = session_of(&played.recording);
    let mut client = Client::greet(recorder(&case, &stage), case.offer, case.manner);
    client.session = session.clone();
    let params = json!({"sessionId": session, "cwd": stage.project(), "mcpServers": []});
    let answer = client.ask("session/load", params);
    assert!(answer["result"].is_object(), "{answer}");
    let told = lives(client.recorder.frames());
    assert_eq!(told.len(), case.lives.len());
    client.prompt("and now?");
    let recording = client.recorder.end();
    assert_eq!(judged(&recording), Vec::<String>::new());
    let last = |(name, life): &(String, String)| {
        let last = life.rsplit(' ').next().unwrap_or_default().to_owned();
        (name.clone(), last)
    };
    let lived: Vec<_> = lives(&played.recording.frames).iter().map(last).collect();
    assert_eq!(told.iter().map(last).collect::<Vec<_>>(), lived);
    stage.settle(None);
}

/// The tools of a server that the client names are called like all others.
#[test]
fn the_tools_of_a_server_are_called() {
    let stage = Stage::new();
    let case = Case {
        name: "mcp",
        script: "
- - call: {tool: self__read_file, input: {path: hello.txt}}
  - say: Read by another.
",
        ..cases::PLAIN
    };
    let mut client = Client::greet(recorder(&case, &stage), case.offer, case.manner);
    let args = ["mcp", "serve", "--mode", "allow-all"];
    let server = json!({"name": "self", "command": PROGRAM, "args": args, "env": []});
    client.open(&stage.project(), json!([server]));
    client.prompt("go");
    let recording = client.recorder.end();
    assert_eq!(judged(&recording), Vec::<String>::new());
    assert_eq!(questions(&recording.frames), 1);
    // It is told by its own name; its title says whose it is.
    let wanted = ("read_file".to_owned(), cases::DONE.to_owned());
    assert_eq!(lives(&recording.frames), [wanted]);
    stage.settle(None);
}

fn session_of(recording: &Recording) -> Value {
    let messages = recording.frames.iter().map(Frame::message);
    let mut ids = messages.map(|message| message["result"]["sessionId"].clone());
    ids.find(Value::is_string).expect("a session")
}

/// Plays a case, and says everything that is wrong.
fn faults(case: &Case) -> Vec<String> {
    let stage = Stage::new();
    let Played {
        stop,
        recording,
        left,
    } = play(case, &stage);
    let frames = &recording.frames;
    let mut faults = judged(&recording);
    faults.extend(
        left.iter()
            .map(|words| format!("it left `{words}` running")),
    );
    let mut differ = |what: &str, found: String, wanted: String| {
        if found != wanted {
            faults.push(format!("{what}: {found}, not {wanted}"));
        }
    };
    let (mut wanted, mut found) = (case.lives.to_vec(), lives(frames));
    wanted.sort_unstable();
    found.sort_unstable();
    differ("lives", format!("{found:?}"), format!("{wanted:?}"));
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
        differ(file, format!("{:?}", stage.text(file)), format!("{text:?}"));
    }
    faults
        .into_iter()
        .map(|fault| format!("{}: {fault}", case.name))
        .collect()
}

/// A case that was played.
struct Played {
    stop: String,
    recording: Recording,
    /// What it left running.
    left: Vec<String>,
}

/// The agent that a case wants.
fn recorder(case: &Case, stage: &Stage) -> Recorder {
    stage.write(POLICY, case.policy);
    let script = stage.write("script.yaml", case.script);
    let model = format!("script:{}", script.display());
    Recorder::start(stage.agent(&["--model", &model, "--mode", case.mode]))
}

fn play(case: &Case, stage: &Stage) -> Played {
    let mut client = Client::greet(recorder(case, stage), case.offer, case.manner);
    client.open(&stage.project(), json!([]));
    let stop = client.prompt("go");
    let mut left = Vec::new();
    if case.stop == "cancelled" {
        left.extend(stage.left_behind(Some(client.recorder.id())));
    }
    let recording = client.recorder.end();
    left.extend(stage.left_behind(None));
    Played {
        stop: stop.as_str().unwrap_or_default().to_owned(),
        recording,
        left,
    }
}

/// What both linters say, and what was complained about aloud.
fn judged(recording: &Recording) -> Vec<String> {
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
    findings.extend(judge(&recording.frames));
    if !recording.complaints.is_empty() {
        findings.push(format!("it complained: {}", recording.complaints));
    }
    findings
}

fn questions(frames: &[Frame]) -> usize {
    let messages = frames.iter().filter(|frame| frame.side == Side::Agent);
    let methods = messages.map(|frame| frame.message()["method"].clone());
    methods
        .filter(|method| method == "session/request_permission")
        .count()
}
