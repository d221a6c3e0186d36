//! `toolcall demo`: makes a small project in a temporary folder and has an agent work on it.
//! What is shown is what a client hears over the wire; nothing outside of that folder is changed.

mod project;
mod scenes;
mod word_count;

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use toolcall::{Limits, ToolCall, erased};
use toolcall_acp::serve;
use toolcall_agent::model::Models;
use toolcall_agent::model::script::{Script, ScriptModel};
use toolcall_agent::{Agent, AgentConfig};
use toolcall_history::{Archive, Period};
use toolcall_tools::command::Supervisor;

use crate::approver::{Answering, ScreenApprover, Voice};
use crate::args::{Grouping, Wishes};
use crate::client::{Client, Errand, Left, Printing, Viewer};
use crate::history::timeline;
use crate::pace::Pace;
use crate::places::history_file;
use crate::recording;
use crate::screen::{self, Screen};
use crate::stats;
use crate::telemetry::Tracing;
use crate::view::{self, DIM, JsonLines, painted};
use crate::wire::{self, Form, WireLines};
use project::Project;
use scenes::Scenes;

const CANCELLED: u8 = 130;

/// What the model says and calls.
const STORY: &str = include_str!("demo/story.yaml");

/// What the person asks for.
const PROMPT: &str = "Greet people properly, and see that the tests pass.";

const WHAT_NEXT: [(&str, &str); 9] = [
    (
        "every event, for programs:",
        "cargo run --release -- demo --json",
    ),
    (
        "what an editor is sent:",
        "cargo run --release -- demo --wire",
    ),
    (
        "this agent in your editor:",
        "cargo run --release -- agent --help",
    ),
    (
        "your settings, explained:",
        "cargo run --release -- config init",
    ),
    ("the tools:", "cargo run --release -- tools"),
    (
        "what the rules say:",
        "cargo run --release -- policy explain 'git push'",
    ),
    (
        "one call of your own:",
        "cargo run --release -- call list_directory path=.",
    ),
    (
        "what was kept of it:",
        "cargo run --release -- history call last",
    ),
    (
        "a tool of your own:",
        "cargo run -p toolcall --example custom_tool",
    ),
];

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Wire(Form),
}

/// Plays the story.
pub(crate) async fn run(wishes: Wishes, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let format = format(wishes);
    let project = Project::make()?;
    let tracing = Tracing::default();
    let settings = settings(&project, supervisor, &tracing)?;
    let (screen, writing) = screen::open()?;
    let voice = voice(format);
    let approver = ScreenApprover::new(answering(wishes), voice, screen.clone(), pace());
    let left = match format {
        Format::Text => {
            let scenes = Scenes::new(screen.clone(), PROMPT);
            play(settings, &project, approver, scenes, &screen).await?
        }
        Format::Json => {
            let lines = JsonLines::new(screen.clone());
            play(settings, &project, approver, lines, &screen).await?
        }
        Format::Wire(form) => {
            let lines = WireLines {
                form,
                screen: screen.clone(),
            };
            play(settings, &project, approver, lines, &screen).await?
        }
    };
    tracing.close().await;
    if format == Format::Text {
        close(&screen, &project)?;
    }
    writing.finish()?;
    Ok(match left {
        Left::Answered | Left::Unheard => ExitCode::SUCCESS,
        Left::Interrupted => ExitCode::from(CANCELLED),
    })
}

fn format(wishes: Wishes) -> Format {
    match (wishes.wire, wishes.json) {
        (true, true) => Format::Wire(Form::Recording),
        (true, false) => Format::Wire(Form::Text),
        (false, true) => Format::Json,
        (false, false) => Format::Text,
    }
}

/// The agent and its client, until the client leaves. Every call has ended after that.
async fn play(
    settings: AgentConfig,
    project: &Project,
    approver: ScreenApprover,
    viewer: impl Viewer,
    screen: &Screen,
) -> anyhow::Result<Left> {
    let (client, transport, pipe) = wire::pipe();
    let agent = Agent::new(client.clone(), settings);
    let serving = tokio::spawn(serve(client, transport, agent.clone()));
    let errand = Errand {
        cwd: project.root(),
        text: PROMPT.to_owned(),
        stops: has_been_watched,
        printing: Printing::Terminal,
        pace: pace(),
    };
    let left = Client::new(pipe, errand, approver, viewer, screen.clone())?
        .run()
        .await;
    let served = serving.await;
    agent.close().await;
    served?.context("the agent broke off")?;
    left
}

/// The built-in tools and one of a guest, under the rules of the project, with a history of its own.
fn settings(
    project: &Project,
    supervisor: Supervisor,
    tracing: &Tracing,
) -> anyhow::Result<AgentConfig> {
    let person = project.person();
    let story = Script::parse(STORY)?;
    let story = match pace() {
        Pace::ForPeople => story,
        Pace::AtOnce => story.at_once(),
    };
    Ok(AgentConfig {
        history: Some((history_file(&person.places), recording::settings())),
        places: person.places,
        home: person.home,
        supervisor: Some(supervisor),
        sandbox: None,
        search: None,
        layers: Vec::new(),
        limits: Limits::default(),
        models: Models::new(Arc::new(ScriptModel::new("script:story.yaml", story))),
        guests: vec![erased(word_count::WordCount { pace: pace() })],
        observer: Some(Arc::new(tracing.clone())),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The one call that the client stops: it has printed all that it will.
fn has_been_watched(call: &ToolCall) -> bool {
    call.title() == "sh watch.sh" && call.output().text().contains("no change so far\n")
}

fn voice(format: Format) -> Voice {
    match format {
        Format::Text => Voice::Aloud,
        Format::Json | Format::Wire(_) => Voice::Silent,
    }
}

fn answering(wishes: Wishes) -> Answering {
    if wishes.yes || wishes.json || wishes.wire {
        return Answering::YesThenAlways("answered by --yes");
    }
    match stdin().is_terminal() && stdout().is_terminal() {
        true => Answering::ByPerson,
        false => Answering::YesThenAlways("no terminal to ask at, so the demo answers"),
    }
}

fn pace() -> Pace {
    match stdout().is_terminal() {
        true => Pace::ForPeople,
        false => Pace::AtOnce,
    }
}

/// What was kept of it, as a timeline and in figures.
fn close(screen: &Screen, project: &Project) -> anyhow::Result<()> {
    match Archive::open(&history_file(&project.person().places)) {
        Ok(archive) => show_kept(screen, &archive)?,
        Err(trouble) => anstream::eprintln!("warning: there is no timeline: {trouble}"),
    }
    screen.line("");
    for (what, command) in WHAT_NEXT {
        let what = painted(DIM, &format!("{what:<26}"));
        screen.line(&format!("  {what} {command}"));
    }
    Ok(())
}

fn show_kept(screen: &Screen, archive: &Archive) -> anyhow::Result<()> {
    screen.line("");
    for line in timeline(archive)? {
        screen.line(&line);
    }
    screen.line("");
    for line in stats::figures(&archive.stats(Period::ALL)?, Grouping::Tool, view::width()) {
        screen.line(&line);
    }
    Ok(())
}
