//! The same questions in all three renderings: in an editor, at the terminal, in a form of an MCP client.
//! Editor and MCP client are asked over their real protocols; each must show every item.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex, split};
use toolcall::{
    Answer, AskAll, Command, CustomTool, Engine, EngineBuilder, FileBody, FileEdit, Intent, Kind,
    Origin, Question, Reading, Registry, SessionContext, SessionId, ToolDefinition, ToolRequest,
    Touch,
};
use toolcall_acp::{Prompt, SimpleAgent, StopReason, serve};

use crate::approver::numbered_options;
use crate::view::question_lines;
use crate::wire;

const SESSION: &str = "s";
const WIDE: usize = 400;

/// A call that is asked about, and what the user must see of it.
struct Sample {
    name: &'static str,
    origin: Origin,
    intent: Intent,
    input: Value,
    must_show: &'static [&'static str],
}

impl Sample {
    fn new(name: &'static str, intent: Intent, must_show: &'static [&'static str]) -> Self {
        Self {
            name,
            origin: Origin::Local,
            intent,
            input: json!({}),
            must_show,
        }
    }

    fn engine(&self) -> EngineBuilder {
        let mut definition = ToolDefinition::new("it", "For a test", json!({"type": "object"}));
        definition.origin = self.origin.clone();
        let intent = self.intent.clone();
        let run = |_input, _context| std::future::ready(Ok("done"));
        let tool = CustomTool::new(definition, run).preparing(move |_context| Ok(intent.clone()));
        let mut tools = Registry::new();
        tools.add_any(Arc::new(tool)).expect("a tool");
        let setting = SessionContext::new(SessionId::new(SESSION), "/w");
        Engine::builder(tools).setting(setting).policy(AskAll)
    }

    fn request(&self) -> ToolRequest {
        ToolRequest::new("it", self.input.clone())
    }

    /// Returns what the terminal shows: the lines below the question, and the numbered options.
    async fn at_terminal(&self) -> String {
        let asked: Arc<Mutex<Option<Arc<Question>>>> = Arc::default();
        let slot = asked.clone();
        let engine = self.engine().approver(move |question| {
            *slot.lock().expect("a lock") = Some(question);
            std::future::ready(Answer::reject())
        });
        engine.build().turn().call(self.request()).await.await;
        let question = asked.lock().expect("a lock").take().expect("a question");
        let options = numbered_options(&question);
        let labels = options.into_iter().map(|(_, label)| label);
        let lines: Vec<String> = question_lines(&question, WIDE)
            .into_iter()
            .chain(labels)
            .collect();
        anstream::adapter::strip_str(&lines.join("\n")).to_string()
    }

    /// Returns what an editor gets: the content and the names of the options, not `rawInput`.
    async fn in_editor(&self) -> String {
        let (client, transport, pipe) = wire::pipe();
        let (engine, request) = (Mutex::new(Some(self.engine())), self.request());
        let open = move |_: SessionContext| {
            let engine = engine.lock().expect("a lock").take();
            engine.expect("one session")
        };
        let answer = move |prompt: Arc<Prompt>, _| {
            let request = request.clone();
            async move {
                prompt.call(request).await;
                StopReason::EndTurn
            }
        };
        let agent = Arc::new(SimpleAgent::new(client.clone(), open, answer));
        let serving = tokio::spawn(serve(client, transport, agent));
        let prompt = json!([{"type": "text", "text": "Go on."}]);
        let requests = [
            ("initialize", json!({"protocolVersion": 1})),
            ("session/new", json!({"cwd": "/w", "mcpServers": []})),
            (
                "session/prompt",
                json!({"sessionId": SESSION, "prompt": prompt}),
            ),
        ];
        let params = asked_by(pipe, &requests, "session/request_permission").await;
        serving.await.expect("no panic").expect("a connection");
        let content = params["toolCall"]["content"].as_array().expect("content");
        let options = params["options"].as_array().expect("options").iter();
        let texts = content.iter().map(content_text);
        let names = options.map(|option| text(&option["name"]).to_owned());
        texts.chain(names).collect::<Vec<_>>().join("\n")
    }

    /// Returns what the form of an MCP client shows: the message and the titles of the options.
    async fn in_form(&self) -> String {
        let (near, far) = duplex(64 * 1024);
        let (reader, writer) = split(near);
        let serving = tokio::spawn(toolcall_tools::mcp::serve(self.engine(), reader, writer));
        let capabilities = json!({"elicitation": {}});
        let info = json!({"name": "test", "version": "0"});
        let requests = [
            (
                "initialize",
                json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info}),
            ),
            ("notifications/initialized", json!({})),
            ("tools/call", json!({"name": "it", "arguments": self.input})),
        ];
        let params = asked_by(far, &requests, "elicitation/create").await;
        serving.await.expect("no panic").expect("a connection");
        let options = &params["requestedSchema"]["properties"]["answer"]["oneOf"];
        let options = options.as_array().expect("options").iter();
        let titles = options.map(|option| text(&option["title"]));
        let message = std::iter::once(text(&params["message"]));
        message.chain(titles).collect::<Vec<_>>().join("\n")
    }
}

/// Sends these requests, returns the parameters of the request that asks the user, and disconnects.
async fn asked_by(pipe: DuplexStream, requests: &[(&str, Value)], method: &str) -> Value {
    let (reader, mut writer) = split(pipe);
    let mut lines = BufReader::new(reader).lines();
    for (id, (sent, params)) in requests.iter().enumerate() {
        let is_request = !sent.starts_with("notifications/");
        let mut message = json!({"jsonrpc": "2.0", "method": sent, "params": params});
        if is_request {
            message["id"] = json!(id);
        }
        let line = format!("{message}\n");
        writer.write_all(line.as_bytes()).await.expect("a pipe");
        let mut is_answered = !is_request;
        while !is_answered {
            let line = lines.next_line().await.expect("a pipe").expect("a line");
            let mut heard: Value = serde_json::from_str(&line).expect("JSON");
            if heard["method"] == *method {
                writer.shutdown().await.expect("a pipe");
                while lines.next_line().await.expect("a pipe").is_some() {}
                return heard["params"].take();
            }
            is_answered = heard["id"] == id && heard.get("method").is_none();
        }
    }
    panic!("nothing was asked")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn content_text(item: &Value) -> String {
    match text(&item["type"]) {
        "diff" => {
            let changed = ["oldText", "newText"].map(|side| text(&item[side]));
            format!("{}\n{}", text(&item["path"]), changed.join("\n"))
        }
        _ => text(&item["content"]["text"]).to_owned(),
    }
}

fn intent(kind: Kind) -> Intent {
    Intent::new(kind, "It")
}

/// A command with a redirect, as it is understood.
fn redirected() -> Command {
    let mut command = Command::new("echo hi > b.txt", "/w/src", Reading::Understood(Vec::new()));
    command.env.insert("LANG".into(), "C".into());
    command
}

fn commands() -> [Sample; 2] {
    let unclear = Reading::Unclear("`$HOME` is a variable, at byte 5".into());
    [
        Sample::new(
            "a command with a redirect",
            intent(Kind::Execute)
                .running(redirected())
                .touching(Touch::Writes("/w/src/b.txt".into())),
            &[
                "echo hi > b.txt",
                "in /w/src",
                "with LANG=C",
                "writes /w/src/b.txt",
                r#"always allow in this session: "it" running "echo hi > b.txt" in "/w/src""#,
            ],
        ),
        Sample::new(
            "an unclear shell text",
            intent(Kind::Execute).running(Command::new("echo $HOME", "/w", unclear)),
            &[
                "echo $HOME",
                "in /w",
                "not fully understood: $HOME is a variable, at byte 5; a shell would run it as it stands",
                r#"always allow in this session: "it" running the shell text "echo $HOME" in "/w""#,
            ],
        ),
    ]
}

fn files() -> [Sample; 6] {
    let folder = FileBody::Folder {
        files: 3,
        bytes: 42,
        digest: None,
    };
    [
        Sample::new(
            "an edit",
            intent(Kind::Edit)
                .editing(FileEdit::modified("/w/a.rs", "one\ntwo\n", "one\nthree\n"))
                .editing(FileEdit::added("/w/b.rs", "let a\u{200b} = 1;\n")),
            &[
                "/w/a.rs",
                "two",
                "three",
                "/w/b.rs",
                "hidden characters in /w/b.rs: U+200B in line 1",
            ],
        ),
        Sample::new(
            "edits that are no texts",
            intent(Kind::Delete)
                .editing(FileEdit::deleted("/w/target", folder))
                .editing(FileEdit::moved("/w/c", "/w/d")),
            &["/w/target", "3 files, 42 bytes", "/w/c to /w/d"],
        ),
        Sample::new(
            "a path that is read",
            intent(Kind::Read).reading("/etc/hosts"),
            &["reads /etc/hosts"],
        ),
        Sample::new(
            "a path that is written",
            intent(Kind::Edit).touching(Touch::Writes("/w/a b".into())),
            &["writes /w/a b"],
        ),
        Sample::new(
            "a path that is deleted",
            intent(Kind::Delete).touching(Touch::Deletes("/w/a\nb".into())),
            &["deletes /w/a"],
        ),
        Sample::new(
            "a path that is moved",
            intent(Kind::Move).touching(Touch::Moves {
                from: "/w/a".into(),
                to: "/w/b".into(),
            }),
            &["moves /w/a to /w/b"],
        ),
    ]
}

fn others() -> [Sample; 4] {
    let input = json!({"path": "/w/notes.md", "options": {"force": true}});
    [
        Sample {
            input: json!({"url": "https://example.org/?q=1", "method": "POST"}),
            ..Sample::new(
                "a host",
                intent(Kind::Fetch).touching(Touch::Reaches("example.org".into())),
                &[
                    "reaches example.org",
                    "https://example.org/?q=1",
                    "method",
                    "POST",
                ],
            )
        },
        Sample {
            origin: Origin::Mcp("files".into()),
            input: input.clone(),
            ..Sample::new(
                "a server's tool with a path",
                intent(Kind::Edit)
                    .touching(Touch::Reaches("mcp:files/it".into()))
                    .touching(Touch::Writes("/w/notes.md".into()))
                    .showing("The tool `it` of the MCP server `files`: npx files"),
                &[
                    "reaches mcp:files/it",
                    "writes /w/notes.md",
                    "of the MCP server files: npx files",
                    "path",
                    "force",
                    "true",
                ],
            )
        },
        Sample {
            input,
            ..Sample::new(
                "a tool that does not say what it does",
                intent(Kind::Other)
                    .touching(Touch::Unknown)
                    .touching(Touch::Reads("/w/notes.md".into())),
                &[
                    "may affect anything",
                    "reads /w/notes.md",
                    "path",
                    "force",
                    "true",
                ],
            )
        },
        Sample::new("a tool that touches nothing", intent(Kind::Think), &["{}"]),
    ]
}

/// Returns an index for each kind of touch. A new kind needs a sample.
fn touch_index(touch: &Touch) -> usize {
    match touch {
        Touch::Reads(_) => 0,
        Touch::Writes(_) => 1,
        Touch::Deletes(_) => 2,
        Touch::Moves { .. } => 3,
        Touch::Runs(_) => 4,
        Touch::Reaches(_) => 5,
        Touch::Unknown => 6,
    }
}

fn samples() -> Vec<Sample> {
    let samples = commands().into_iter().chain(files()).chain(others());
    samples.collect()
}

#[test]
fn the_samples_have_every_kind_of_touch() {
    let samples = samples();
    let touches = samples.iter().flat_map(|sample| &sample.intent.touches);
    let indices: std::collections::BTreeSet<usize> = touches.map(touch_index).collect();
    assert!(indices.into_iter().eq(0..7));
}

#[tokio::test]
async fn editor_terminal_and_form_show_the_same_items() {
    for sample in samples() {
        let renderings = [
            ("editor", sample.in_editor().await),
            ("terminal", sample.at_terminal().await),
            ("form", sample.in_form().await),
        ];
        for (place, shown) in renderings {
            // Markdown quotes; sentences begin with capitals.
            let plain = shown.replace('`', "").to_lowercase();
            for item in sample.must_show {
                let is_shown = plain.contains(&item.to_lowercase());
                assert!(
                    is_shown,
                    "{}: the {place} lacks `{item}`:\n{shown}",
                    sample.name
                );
            }
        }
    }
}
