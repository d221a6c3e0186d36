//! `toolcall demo`: puts an engine together in memory and plays a story on it.
//! Everything that is shown comes from a reader; nothing on this machine is read or changed.

mod approver;
mod pace;
mod project;
mod story;
mod tools;
mod wire;

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use toolcall::{Counted, Engine, EngineBuilder};

use crate::arguments::Wishes;
use crate::screen::{self, Screen};
use crate::view::{self, DIM, JsonLines, Lines, Table, painted};
use approver::{Answering, DemoApprover};
use pace::Pace;
use story::{Narrator, Story};

const CANCELLED: u8 = 130;

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Wire(wire::Form),
}

/// Plays the story.
pub(crate) async fn run(wishes: Wishes) -> anyhow::Result<ExitCode> {
    let format = format(wishes);
    let (screen, writing) = screen::open()?;
    let narrator = Narrator::new(format, screen.clone());
    let code = match format {
        Format::Wire(form) => wire::show(form, screen, builder()?, narrator).await?,
        Format::Text | Format::Json => {
            let table = Table::default();
            let engine = engine(format, answering(wishes), &screen, &table)?;
            let code = play(&engine, &narrator).await;
            if format == Format::Text {
                close(&screen, &table);
            }
            code
        }
    };
    writing.finish()?;
    Ok(code)
}

fn format(wishes: Wishes) -> Format {
    match (wishes.wire, wishes.json) {
        (true, true) => Format::Wire(wire::Form::Recording),
        (true, false) => Format::Wire(wire::Form::Text),
        (false, true) => Format::Json,
        (false, false) => Format::Text,
    }
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

fn engine(
    format: Format,
    answering: Answering,
    screen: &Screen,
    table: &Table,
) -> anyhow::Result<Engine> {
    let builder = builder()?
        .approver(DemoApprover::new(format, answering, screen.clone(), pace()))
        .reader(table.clone());
    let builder = match format {
        Format::Text | Format::Wire(_) => builder.reader(Lines::new(screen.clone(), view::width())),
        Format::Json => builder.reader(JsonLines::new(screen.clone())),
    };
    Ok(builder.build())
}

/// What every telling has in common.
fn builder() -> anyhow::Result<EngineBuilder> {
    Ok(Engine::builder(tools::registry(pace())?)
        .cwd(project::FOLDER)
        .host(Arc::new(project::host()))
        .policy(project::policy)
        .ids(Counted::new("call")))
}

fn answering(wishes: Wishes) -> Answering {
    if wishes.yes || wishes.json {
        return Answering::ByFlag;
    }
    match stdin().is_terminal() && stdout().is_terminal() {
        true => Answering::ByPerson,
        false => Answering::Unattended,
    }
}

fn pace() -> Pace {
    match stdout().is_terminal() {
        true => Pace::ForPeople,
        false => Pace::AtOnce,
    }
}

fn close(screen: &Screen, table: &Table) {
    screen.line("");
    for line in table.lines() {
        screen.line(&line);
    }
    screen.line("");
    screen.line(&try_next(
        "every event, for programs:",
        "cargo run --release -- demo --json",
    ));
    screen.line(&try_next(
        "what an editor is sent:",
        "cargo run --release -- demo --wire",
    ));
    screen.line(&try_next(
        "a tool of your own:",
        "cargo run -p toolcall --example custom_tool",
    ));
}

fn try_next(what: &str, command: &str) -> String {
    format!("  {} {command}", painted(DIM, &format!("{what:<26}")))
}
