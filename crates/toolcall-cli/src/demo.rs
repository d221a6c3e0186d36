//! `toolcall demo`: makes a small project in a temporary folder and plays a story on it.
//! Everything that is shown comes from a reader; nothing outside of that folder is changed.

mod project;
mod story;
mod word_count;

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use toolcall::{Engine, EngineBuilder, Registry, SessionId};
use toolcall_acp::v1::{Prompt, StopReason};
use toolcall_history::{Archive, Period};
use toolcall_tools::command::Supervisor;

use crate::approver::{Answering, ScreenApprover, Voice};
use crate::arguments::{Grouping, Wishes};
use crate::history::timeline;
use crate::pace::Pace;
use crate::recording::Recording;
use crate::screen::{self, Screen};
use crate::stats;
use crate::view::{self, DIM, JsonLines, Lines, painted};
use crate::wire::{self, Consent, Form, Scene, Shown};
use crate::workshop::{Crew, Plan, Walls, Workshop};
use project::Project;
use story::{Narrator, Story};

const CANCELLED: u8 = 130;

const WHAT_NEXT: [(&str, &str); 7] = [
    (
        "every event, for programs:",
        "cargo run --release -- demo --json",
    ),
    (
        "what an editor is sent:",
        "cargo run --release -- demo --wire",
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
    let workshop = Workshop::open(Plan {
        folder: Some(project.root()),
        session: SessionId::new("session-1"),
        person: project.person(),
        supervisor,
        walls: Walls::None,
        layers: Vec::new(),
        crew: Crew::Every,
    })?;
    let (screen, writing) = screen::open()?;
    let code = match format {
        Format::Wire(form) => tell_over_the_wire(form, &workshop, screen).await?,
        Format::Text | Format::Json => tell_here(format, wishes, &workshop, &screen).await?,
    };
    workshop.close().await;
    writing.finish()?;
    Ok(code)
}

fn format(wishes: Wishes) -> Format {
    match (wishes.wire, wishes.json) {
        (true, true) => Format::Wire(Form::Recording),
        (true, false) => Format::Wire(Form::Text),
        (false, true) => Format::Json,
        (false, false) => Format::Text,
    }
}

async fn tell_here(
    format: Format,
    wishes: Wishes,
    workshop: &Workshop,
    screen: &Screen,
) -> anyhow::Result<ExitCode> {
    let narrator = Narrator::new(voice(format), screen.clone());
    let recording = match format {
        Format::Text => workshop.record("toolcall demo"),
        Format::Json | Format::Wire(_) => Recording::off(),
    };
    let approver = ScreenApprover::new(answering(wishes), voice(format), screen.clone(), pace());
    let builder = recording.keep(engine(workshop)?).approver(approver);
    let engine = match format {
        Format::Text | Format::Wire(_) => builder.reader(Lines::new(screen.clone(), view::width())),
        Format::Json => builder.reader(JsonLines::new(screen.clone())),
    };
    let engine = engine.build();
    let span = workshop.tracing().turn(&engine);
    let code = play(&engine, &narrator).await;
    drop(span);
    match recording.archive() {
        Some(Ok(archive)) => close(screen, &archive)?,
        Some(Err(trouble)) => anstream::eprintln!("warning: there is no timeline: {trouble}"),
        None => {}
    }
    Ok(code)
}

async fn tell_over_the_wire(
    form: Form,
    workshop: &Workshop,
    screen: Screen,
) -> anyhow::Result<ExitCode> {
    let scene = Scene {
        form,
        consent: Consent::Yes,
        cwd: workshop.cwd().to_owned(),
        text: "Tell the story.".to_owned(),
    };
    let narrator = Arc::new(Narrator::new(Voice::Silent, screen.clone()));
    let tracing = workshop.tracing().clone();
    let answer = move |prompt: Arc<Prompt>| {
        let narrator = narrator.clone();
        let span = tracing.turn(prompt.session().engine());
        async move {
            let _until_it_is_told = span;
            let engine = prompt.session().engine();
            let story = Story::new(engine, prompt.turn(), &narrator, pace());
            let _told = story.tell().await;
            StopReason::EndTurn
        }
    };
    let shown = wire::show(scene, screen, engine(workshop)?, answer).await?;
    Ok(match shown {
        Shown::Whole => ExitCode::SUCCESS,
        Shown::Interrupted => ExitCode::from(CANCELLED),
    })
}

/// Plays until the story is over, nobody reads any more, or the person has had enough. Every call
/// has ended after that.
async fn play(engine: &Engine, narrator: &Narrator) -> ExitCode {
    let turn = engine.turn();
    let story = Story::new(engine, &turn, narrator, pace());
    let code = tokio::select! {
        _told = story.tell() => ExitCode::SUCCESS,
        _interrupted = tokio::signal::ctrl_c() => {
            let _nobody_reads = narrator.say("");
            turn.cancel();
            ExitCode::from(CANCELLED)
        }
    };
    turn.end().await;
    code
}

/// The built-in tools and one of a guest, under the rules of the story.
fn engine(workshop: &Workshop) -> anyhow::Result<EngineBuilder> {
    let mut tools = Registry::clone(&workshop.tools());
    tools.add(word_count::WordCount { pace: pace() })?;
    Ok(workshop.engine_with(tools))
}

fn voice(format: Format) -> Voice {
    match format {
        Format::Text => Voice::Aloud,
        Format::Json | Format::Wire(_) => Voice::Silent,
    }
}

fn answering(wishes: Wishes) -> Answering {
    if wishes.yes || wishes.json {
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
fn close(screen: &Screen, archive: &Archive) -> anyhow::Result<()> {
    screen.line("");
    for line in timeline(archive)? {
        screen.line(&line);
    }
    screen.line("");
    for line in stats::figures(&archive.stats(Period::ALL)?, Grouping::Tool, view::width()) {
        screen.line(&line);
    }
    screen.line("");
    for (what, command) in WHAT_NEXT {
        let what = painted(DIM, &format!("{what:<26}"));
        screen.line(&format!("  {what} {command}"));
    }
    Ok(())
}
