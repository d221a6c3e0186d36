//! `toolcall demo`: creates a small project in a temporary directory and runs a scripted agent on it.
//! It shows what a client receives over the wire, and changes nothing outside of that directory.

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
use toolcall_history::{Archive, StatsPeriod};
use toolcall_tools::command::Supervisor;

use crate::approver::{AnswerMode, Commentary, ScreenApprover};
use crate::args::{DemoArgs, StatsGrouping};
use crate::client::{Client, ClientExit, ClientTask, CommandOutputMode, Viewer};
use crate::environment::history_file;
use crate::history::timeline;
use crate::pace::Pace;
use crate::recording;
use crate::screen::{self, Screen};
use crate::stats;
use crate::telemetry::Tracing;
use crate::view::{self, DIM, JsonLines, paint};
use crate::wire::{self, WireFormat, WireLines};
use project::DemoProject;
use scenes::Scenes;

const CANCELLED: u8 = 130;

/// The script of the model.
const STORY: &str = include_str!("demo/story.yaml");

/// The user's prompt.
const PROMPT: &str = "Greet people properly, and see that the tests pass.";

const NEXT_STEPS: [(&str, &str); 8] = [
    ("every event as JSON:", "demo --json"),
    ("the protocol, line by line:", "demo --wire"),
    ("this agent in your editor:", "agent --help"),
    ("your settings, explained:", "config init"),
    ("the tools:", "tools"),
    ("what the rules allow:", "policy explain 'git push'"),
    ("call a tool yourself:", "call list_directory path=."),
    ("the record of that call:", "history call last"),
];

/// What the demo prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFormat {
    Text,
    Json,
    Wire(WireFormat),
}

/// Runs the demo.
pub(crate) async fn run(args: DemoArgs, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let format = output_format(args);
    let project = DemoProject::create()?;
    let tracing = Tracing::default();
    let config = agent_config(&project, supervisor, &tracing)?;
    let (screen, output) = screen::open()?;
    let commentary = commentary(format);
    let approver = ScreenApprover::new(answer_mode(args), commentary, screen.clone(), pace());
    let exit = match format {
        OutputFormat::Text => {
            let scenes = Scenes::new(screen.clone(), PROMPT);
            play(config, &project, approver, scenes, &screen).await?
        }
        OutputFormat::Json => {
            let lines = JsonLines::new(screen.clone());
            play(config, &project, approver, lines, &screen).await?
        }
        OutputFormat::Wire(format) => {
            let lines = WireLines {
                format,
                screen: screen.clone(),
            };
            play(config, &project, approver, lines, &screen).await?
        }
    };
    tracing.close().await;
    if format == OutputFormat::Text {
        show_summary(&screen, &project)?;
    }
    output.finish()?;
    Ok(match exit {
        ClientExit::Answered | ClientExit::OutputClosed => ExitCode::SUCCESS,
        ClientExit::Interrupted => ExitCode::from(CANCELLED),
    })
}

fn output_format(args: DemoArgs) -> OutputFormat {
    if args.wire && args.json {
        OutputFormat::Wire(WireFormat::Recording)
    } else if args.wire {
        OutputFormat::Wire(WireFormat::Text)
    } else if args.json {
        OutputFormat::Json
    } else {
        OutputFormat::Text
    }
}

/// Runs the agent and its client until the client ends. Every call has ended after that.
async fn play(
    config: AgentConfig,
    project: &DemoProject,
    approver: ScreenApprover,
    viewer: impl Viewer,
    screen: &Screen,
) -> anyhow::Result<ClientExit> {
    let (client, transport, pipe) = wire::pipe();
    let agent = Agent::new(client.clone(), config);
    let serving = tokio::spawn(serve(client, transport, agent.clone()));
    let task = ClientTask {
        cwd: project.root(),
        prompt: PROMPT.to_owned(),
        should_stop: is_watcher_with_output,
        output_mode: CommandOutputMode::Terminal,
        pace: pace(),
    };
    let exit = Client::new(pipe, task, approver, viewer, screen.clone())?
        .run()
        .await;
    let served = serving.await;
    agent.close().await;
    served?.context("the agent failed")?;
    exit
}

/// Returns the config of the agent: the built-in tools, a custom tool, and the project's own policy
/// and history.
fn agent_config(
    project: &DemoProject,
    supervisor: Supervisor,
    tracing: &Tracing,
) -> anyhow::Result<AgentConfig> {
    let user = project.user();
    let script = Script::parse(STORY)?;
    let script = match pace() {
        Pace::Readable => script,
        Pace::Immediate => script.at_once(),
    };
    Ok(AgentConfig {
        history: Some((history_file(&user.dirs), recording::history_config())),
        places: user.dirs,
        home: user.home,
        supervisor: Some(supervisor),
        sandbox: None,
        search: None,
        layers: Vec::new(),
        limits: Limits::default(),
        models: Models::new(Arc::new(ScriptModel::new("script:story.yaml", script))),
        guests: vec![erased(word_count::WordCount { pace: pace() })],
        observer: Some(Arc::new(tracing.clone())),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Returns whether this is the call that the client stops, and has printed all its output.
fn is_watcher_with_output(call: &ToolCall) -> bool {
    call.title() == "sh watch.sh" && call.output().text().contains("no change so far\n")
}

fn commentary(format: OutputFormat) -> Commentary {
    match format {
        OutputFormat::Text => Commentary::Shown,
        OutputFormat::Json | OutputFormat::Wire(_) => Commentary::Hidden,
    }
}

fn answer_mode(args: DemoArgs) -> AnswerMode {
    if args.yes || args.json || args.wire {
        return AnswerMode::YesThenAlways("answered by --yes");
    }
    if stdin().is_terminal() && stdout().is_terminal() {
        AnswerMode::AskUser
    } else {
        AnswerMode::YesThenAlways("no terminal to ask at, so the demo answers")
    }
}

fn pace() -> Pace {
    if stdout().is_terminal() {
        Pace::Readable
    } else {
        Pace::Immediate
    }
}

/// Shows the recorded session as a timeline and in figures, then commands to try next.
fn show_summary(screen: &Screen, project: &DemoProject) -> anyhow::Result<()> {
    match Archive::open(&history_file(&project.user().dirs)) {
        Ok(archive) => show_history(screen, &archive)?,
        Err(error) => anstream::eprintln!("warning: the timeline cannot be shown: {error}"),
    }
    screen.line("");
    let program = program();
    for (what, command) in NEXT_STEPS {
        let what = paint(DIM, &format!("{what:<27}"));
        screen.line(&format!("  {what} {program} {command}"));
    }
    Ok(())
}

/// Returns the command that starts this program, with which the user can start it again.
/// Cargo sets `CARGO` for a program that `cargo run` starts.
fn program() -> &'static str {
    if std::env::var_os("CARGO").is_some() {
        "cargo run --release --"
    } else {
        "toolcall"
    }
}

fn show_history(screen: &Screen, archive: &Archive) -> anyhow::Result<()> {
    screen.line("");
    for line in timeline(archive)? {
        screen.line(&line);
    }
    screen.line("");
    for line in stats::figures(
        &archive.stats(StatsPeriod::ALL)?,
        StatsGrouping::Tool,
        view::width(),
    ) {
        screen.line(&line);
    }
    Ok(())
}
