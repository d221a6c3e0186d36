//! Runs the example agent as a process, with the SDK's own client on its pipes.
//! The golden tests check the lines; this test checks that another client understands them.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, FileSystemCapabilities,
    InitializeRequest, NewSessionRequest, PermissionOptionKind, PromptRequest, ReadTextFileRequest,
    ReadTextFileResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionId, SessionNotification,
    SessionUpdate, StopReason, TextContent, ToolCallContent, WriteTextFileRequest,
    WriteTextFileResponse,
};
use agent_client_protocol::{
    Agent, Client, Error, Lines, Result, on_receive_notification, on_receive_request,
};
use expect_test::expect;
use futures::{Sink, Stream, sink, stream};
use tokio::sync::mpsc;

/// How the user answers a permission question.
#[derive(Clone, Copy, Debug, Default)]
enum UserReply {
    #[default]
    Allows,
    Refuses,
    Cancels,
}

/// An editor: its files in memory, its user, and the updates that it received.
#[derive(Default)]
struct Editor {
    files: HashMap<PathBuf, String>,
    reply: UserReply,
    received: Vec<String>,
}

type SharedEditor = Arc<Mutex<Editor>>;

/// Bad lines that disturb neither side.
const BAD_LINES: [&str; 7] = [
    "this is no JSON",
    "[]",
    "{}",
    r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
    r#"{"jsonrpc":"2.0","id":9,"result":1,"error":1}"#,
    r#"{"jsonrpc":"2.0","method":"session/update","params":5}"#,
    "\r",
];

/// The agent's standard input, shared by the SDK and the test that writes bad lines.
type Input = Arc<Mutex<Option<ChildStdin>>>;

#[tokio::test]
async fn a_strangers_client_uses_the_example_agent() {
    let (mut child, input, output) = start();
    let editor = SharedEditor::default();
    let lines = Lines::new(writing(input.clone()), reading(output));
    let done = talk(lines, editor.clone(), input.clone()).await;
    done.expect("a conversation");
    drop(input.lock().expect("input").take());
    assert!(child.wait().expect("an end").success());

    let editor = editor.lock().expect("editor");
    assert_eq!(editor.files[&PathBuf::from("/w/note.md")], "buy milk\n");
    expect![[r#"
        call `Count words` Think Pending []
          Some(InProgress) []
          Some(Completed) ["3 words"]
        says completed
        call `Write note.md` Edit Pending ["/w/note.md becomes \"buy milk\\n\""]
          Some(InProgress) []
          Some(Completed) ["/w/note.md becomes \"buy milk\\n\"", "noted"]
        says completed
        call `Write note.md` Edit Pending ["/w/note.md becomes \"sell milk\\n\""]
          Some(Failed) ["not allowed: the user rejected it", "/w/note.md becomes \"sell milk\\n\""]
        says denied
        call `Write note.md` Edit Pending ["/w/note.md becomes \"drink milk\\n\""]
          Some(Failed) ["cancelled by the user", "/w/note.md becomes \"drink milk\\n\""]"#]]
    .assert_eq(&editor.received.join("\n"));
}

/// Starts the example agent. Cargo builds examples before the tests run, in the directory beside them.
fn start() -> (Child, Input, ChildStdout) {
    let test = std::env::current_exe().expect("a path");
    let target = test.parent().and_then(|deps| deps.parent()).expect("deps");
    let mut child = Command::new(target.join("examples").join("agent"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example agent");
    let input = Arc::new(Mutex::new(child.stdin.take()));
    let output = child.stdout.take().expect("output");
    (child, input, output)
}

fn write_line(input: &Input, line: &str) -> io::Result<()> {
    match input.lock().expect("input").as_mut() {
        Some(input) => writeln!(input, "{line}"),
        None => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

fn writing(input: Input) -> impl Sink<String, Error = io::Error> + Send + 'static {
    sink::unfold(input, |input, line: String| async move {
        write_line(&input, &line)?;
        Ok(input)
    })
}

fn reading(output: ChildStdout) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    let (sender, lines) = mpsc::channel(64);
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    stream::unfold(lines, |mut lines| async move {
        let line = lines.recv().await?;
        Some((line, lines))
    })
}

async fn talk<O, I>(lines: Lines<O, I>, editor: SharedEditor, input: Input) -> Result<()>
where
    O: Sink<String, Error = io::Error> + Send + 'static,
    I: Stream<Item = io::Result<String>> + Send + 'static,
{
    let [received, asked, read, written, main] = std::array::from_fn(|_| editor.clone());
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _| {
                let line = summary(&notification.update);
                received.lock().expect("editor").received.push(line);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, to, agent: ConnectionTo<Agent>| {
                to.respond(decide(&asked, &request, &agent)?)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, to, _| {
                let text = read
                    .lock()
                    .expect("editor")
                    .files
                    .get(&request.path)
                    .cloned();
                let missing = || Error::new(-32002, "Resource not found");
                to.respond_with_result(text.map(ReadTextFileResponse::new).ok_or_else(missing))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, to, _| {
                let mut editor = written.lock().expect("editor");
                editor.files.insert(request.path, request.content);
                to.respond(WriteTextFileResponse::new())
            },
            on_receive_request!(),
        )
        .connect_with(lines, async move |agent| script(agent, main, input).await)
        .await
}

/// Answers a permission request. Chooses the option by its kind, never by its position or name.
fn decide(
    editor: &SharedEditor,
    request: &RequestPermissionRequest,
    agent: &ConnectionTo<Agent>,
) -> Result<RequestPermissionResponse> {
    let kind = match editor.lock().expect("editor").reply {
        UserReply::Allows => PermissionOptionKind::AllowOnce,
        UserReply::Refuses => PermissionOptionKind::RejectOnce,
        UserReply::Cancels => {
            agent.send_notification(CancelNotification::new(request.session_id.clone()))?;
            let cancelled = RequestPermissionOutcome::Cancelled;
            return Ok(RequestPermissionResponse::new(cancelled));
        }
    };
    let chosen = request.options.iter().find(|option| option.kind == kind);
    let chosen = chosen.ok_or_else(Error::invalid_params)?.option_id.clone();
    let selected = RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(chosen));
    Ok(RequestPermissionResponse::new(selected))
}

async fn script(agent: ConnectionTo<Agent>, editor: SharedEditor, input: Input) -> Result<()> {
    let files = FileSystemCapabilities::new()
        .read_text_file(true)
        .write_text_file(true);
    let hello = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().fs(files));
    agent.send_request(hello).block_task().await?;
    let session = agent
        .send_request(NewSessionRequest::new("/w"))
        .block_task()
        .await?
        .session_id;
    let reply = |reply| editor.lock().expect("editor").reply = reply;

    let ended = StopReason::EndTurn;
    assert_eq!(
        prompt(&agent, &session, "count one two three").await?,
        ended
    );
    for line in BAD_LINES {
        write_line(&input, line).map_err(Error::into_internal_error)?;
    }
    assert_eq!(prompt(&agent, &session, "note buy milk").await?, ended);
    reply(UserReply::Refuses);
    assert_eq!(prompt(&agent, &session, "note sell milk").await?, ended);
    reply(UserReply::Cancels);
    let stopped = prompt(&agent, &session, "note drink milk").await?;
    assert_eq!(stopped, StopReason::Cancelled);
    Ok(())
}

async fn prompt(
    agent: &ConnectionTo<Agent>,
    session: &SessionId,
    text: &str,
) -> Result<StopReason> {
    let text = ContentBlock::Text(TextContent::new(text));
    let request = PromptRequest::new(session.clone(), vec![text]);
    Ok(agent.send_request(request).block_task().await?.stop_reason)
}

/// Summarizes an update in one line.
fn summary(update: &SessionUpdate) -> String {
    match update {
        SessionUpdate::ToolCall(call) => {
            let shown: Vec<_> = call.content.iter().map(shown).collect();
            format!(
                "call `{}` {:?} {:?} {shown:?}",
                call.title, call.kind, call.status
            )
        }
        SessionUpdate::ToolCallUpdate(update) => {
            let content = update.fields.content.iter().flatten();
            let shown: Vec<_> = content.map(shown).collect();
            format!("  {:?} {shown:?}", update.fields.status)
        }
        SessionUpdate::AgentMessageChunk(chunk) => match &chunk.content {
            ContentBlock::Text(text) => format!("says {}", text.text),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}

fn shown(content: &ToolCallContent) -> String {
    match content {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) => text.text.clone(),
            other => format!("{other:?}"),
        },
        ToolCallContent::Diff(diff) => {
            format!("{} becomes {:?}", diff.path.display(), diff.new_text)
        }
        other => format!("{other:?}"),
    }
}
