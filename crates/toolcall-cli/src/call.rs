//! `toolcall call`: one call of one tool on this machine, with its whole life printed.
//! It brings the parts together; what may be done is the policy's and the person's to say.

mod input;

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use toolcall::{Content, Ending, Engine, EngineBuilder, Outcome, ToolRequest};
use toolcall_acp::{Prompt, StopReason};

use crate::approver::{Answering, ScreenApprover, Voice};
use crate::args::Request;
use crate::client::{Errand, Printing};
use crate::context::Workshop;
use crate::pace::Pace;
use crate::recording::Recording;
use crate::screen::{self, Screen};
use crate::view::{self, JsonLines, Lines, wrapped};
use crate::wire;

const CANCELLED: u8 = 130;
const NOT_UNDERSTOOD: u8 = 2;
const NOBODY: &str = "there is no terminal to ask at; add --yes to allow it";
const UNASKED: &str = "nobody is asked with --wire; add --yes to allow it";

/// Makes the call.
pub(crate) async fn run(request: Request, workshop: Workshop) -> anyhow::Result<ExitCode> {
    let tools = workshop.tools_for(&request.tool).await;
    let input = match input::read(&request, &tools) {
        Ok(input) => input,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            return Ok(ExitCode::from(NOT_UNDERSTOOD));
        }
    };
    for warning in workshop.warnings() {
        anstream::eprintln!("warning: {warning}");
    }
    let recording = match request.no_history {
        true => Recording::off(),
        false => workshop.record("toolcall call")?,
    };
    let engine = recording.keep(workshop.engine());
    let (screen, writing) = screen::open()?;
    let asked = ToolRequest::new(&*request.tool, input);
    let code = match request.wire {
        true => over_the_wire(&request, asked, &workshop, engine, screen).await?,
        false => here(&request, asked, &workshop, engine, &screen).await?,
    };
    workshop.close().await;
    recording.finish();
    writing.finish()?;
    Ok(code)
}

async fn here(
    request: &Request,
    asked: ToolRequest,
    workshop: &Workshop,
    engine: EngineBuilder,
    screen: &Screen,
) -> anyhow::Result<ExitCode> {
    let voice = match request.events {
        true => Voice::Silent,
        false => Voice::Aloud,
    };
    let approver = ScreenApprover::new(answering(request), voice, screen.clone(), Pace::AtOnce);
    let builder = engine.approver(approver);
    let engine = match request.events {
        true => builder.reader(JsonLines::new(screen.clone())).build(),
        false => builder
            .reader(Lines::new(screen.clone(), view::width()))
            .build(),
    };
    let span = workshop.tracing().turn(&engine);
    let outcome = carry(&engine, asked).await;
    drop(span);
    if !request.events {
        show_result(screen, &outcome);
    }
    Ok(exit_code(outcome.ending()))
}

/// Waits for the outcome; Ctrl-C cancels the call, which still ends in its own way.
async fn carry(engine: &Engine, asked: ToolRequest) -> Outcome {
    let turn = engine.turn();
    let mut handle = turn.call(asked).await;
    let outcome = tokio::select! {
        outcome = &mut handle => Some(outcome),
        _interrupted = tokio::signal::ctrl_c() => None,
    };
    match outcome {
        Some(outcome) => outcome,
        None => {
            turn.cancel();
            handle.await
        }
    }
}

async fn over_the_wire(
    request: &Request,
    asked: ToolRequest,
    workshop: &Workshop,
    engine: EngineBuilder,
    screen: Screen,
) -> anyhow::Result<ExitCode> {
    let errand = Errand {
        cwd: workshop.cwd().to_owned(),
        text: format!("Call {}.", request.tool),
        stops: |_| false,
        printing: Printing::Text,
        pace: Pace::AtOnce,
    };
    let answering = match request.yes {
        true => Answering::Yes("answered by --yes"),
        false => Answering::No(UNASKED),
    };
    let ending = Arc::new(OnceLock::new());
    let seen = ending.clone();
    let tracing = workshop.tracing().clone();
    let answer = move |prompt: Arc<Prompt>| {
        let (asked, seen) = (asked.clone(), seen.clone());
        let span = tracing.turn(prompt.session().engine());
        async move {
            let _until_it_is_answered = span;
            let outcome = prompt.turn().call(asked).await.await;
            let _once = seen.set(outcome.ending().clone());
            StopReason::EndTurn
        }
    };
    wire::show(errand, answering, screen, engine, answer).await?;
    // Interrupted before its end, it was cancelled.
    Ok(ending.get().map_or(ExitCode::from(CANCELLED), exit_code))
}

fn answering(request: &Request) -> Answering {
    match (request.yes, stdin().is_terminal() && stdout().is_terminal()) {
        (true, _) => Answering::Yes("answered by --yes"),
        (false, true) => Answering::ByPerson,
        (false, false) => Answering::No(NOBODY),
    }
}

/// What the tool gives, as the model would see it.
fn show_result(screen: &Screen, outcome: &Outcome) {
    for content in &outcome.result().content {
        let lines = match content {
            Content::Text(text) => toolcall::text::clean_block(text)
                .lines()
                .map(str::to_owned)
                .collect(),
            Content::Image(blob) => wrapped(&format!("(an image, {})", blob.mime), view::width()),
            Content::Audio(blob) => wrapped(&format!("(a sound, {})", blob.mime), view::width()),
            Content::Resource(resource) => wrapped(&resource.uri, view::width()),
            Content::Link(link) => wrapped(&format!("{}: {}", link.name, link.uri), view::width()),
            // It was shown when it was asked about, or is told by the text beside it.
            Content::Edit(_) | Content::Terminal(_) => Vec::new(),
        };
        for line in lines {
            screen.line(&line);
        }
    }
}

fn exit_code(ending: &Ending) -> ExitCode {
    ExitCode::from(match ending {
        Ending::Completed => 0,
        Ending::Failed { .. } => 1,
        Ending::Denied { .. } => 3,
        Ending::TimedOut { .. } => 124,
        Ending::Cancelled { .. } => CANCELLED,
        Ending::Interrupted { .. } => 4,
    })
}
