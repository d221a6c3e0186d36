//! `toolcall call`: makes one call of one tool and prints all its events.
//! It connects engine, approver and screen; policy and user decide what is allowed.

mod input;

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use toolcall::{Content, Ending, Engine, EngineBuilder, Outcome, ToolRequest};
use toolcall_acp::{Prompt, StopReason};

use crate::approver::{AnswerMode, Commentary, ScreenApprover};
use crate::args::CallArgs;
use crate::client::{ClientTask, CommandOutputMode};
use crate::context::CliContext;
use crate::pace::Pace;
use crate::recording::SessionRecording;
use crate::screen::{self, Screen};
use crate::view::{self, EventLines, JsonLines, wrap};
use crate::wire;

const CANCELLED: u8 = 130;
const INVALID_INPUT: u8 = 2;
const NO_TERMINAL: &str = "there is no terminal to ask at; add --yes to allow it";
const NO_QUESTIONS: &str = "--wire asks no questions; add --yes to allow it";

/// Makes the call.
pub(crate) async fn run(args: CallArgs, context: CliContext) -> anyhow::Result<ExitCode> {
    let tools = context.tools_for(&args.tool).await;
    let input = match input::read(&args, &tools) {
        Ok(input) => input,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            return Ok(ExitCode::from(INVALID_INPUT));
        }
    };
    for warning in context.warnings() {
        anstream::eprintln!("warning: {warning}");
    }
    let recording = if args.no_history {
        SessionRecording::off()
    } else {
        context.record("toolcall call")?
    };
    let engine = recording.attach(context.engine());
    let (screen, output) = screen::open()?;
    let request = ToolRequest::new(&*args.tool, input);
    let code = if args.wire {
        run_over_wire(&args, request, &context, engine, screen).await?
    } else {
        run_directly(&args, request, &context, engine, &screen).await?
    };
    context.close().await;
    recording.finish();
    output.finish()?;
    Ok(code)
}

async fn run_directly(
    args: &CallArgs,
    request: ToolRequest,
    context: &CliContext,
    engine: EngineBuilder,
    screen: &Screen,
) -> anyhow::Result<ExitCode> {
    let commentary = if args.events {
        Commentary::Hidden
    } else {
        Commentary::Shown
    };
    let approver = ScreenApprover::new(
        answer_mode(args),
        commentary,
        screen.clone(),
        Pace::Immediate,
    );
    let builder = engine.approver(approver);
    let builder = if args.events {
        builder.reader(JsonLines::new(screen.clone()))
    } else {
        builder.reader(EventLines::new(screen.clone(), view::width()))
    };
    let engine = builder.build();
    let span = context.tracing().turn(&engine);
    let outcome = run_call(&engine, request).await;
    drop(span);
    if !args.events {
        show_result(screen, &outcome);
    }
    Ok(exit_code(outcome.ending()))
}

/// Runs the call. Ctrl-C cancels it; it still ends and has an outcome.
async fn run_call(engine: &Engine, request: ToolRequest) -> Outcome {
    let turn = engine.turn();
    let mut handle = turn.call(request).await;
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

async fn run_over_wire(
    args: &CallArgs,
    request: ToolRequest,
    context: &CliContext,
    engine: EngineBuilder,
    screen: Screen,
) -> anyhow::Result<ExitCode> {
    let task = ClientTask {
        cwd: context.cwd().to_owned(),
        prompt: format!("Call {}.", args.tool),
        should_stop: |_| false,
        output_mode: CommandOutputMode::Text,
        pace: Pace::Immediate,
    };
    let answer_mode = if args.yes {
        AnswerMode::Yes("answered by --yes")
    } else {
        AnswerMode::No(NO_QUESTIONS)
    };
    let ending = Arc::new(OnceLock::new());
    let ending_slot = ending.clone();
    let tracing = context.tracing().clone();
    let answer = move |prompt: Arc<Prompt>| {
        let (request, ending_slot) = (request.clone(), ending_slot.clone());
        let span = tracing.turn(prompt.session().engine());
        async move {
            let _until_it_is_answered = span;
            let outcome = prompt.turn().call(request).await.await;
            let _once = ending_slot.set(outcome.ending().clone());
            StopReason::EndTurn
        }
    };
    wire::show(task, answer_mode, screen, engine, answer).await?;
    // Without an ending, Ctrl-C came first.
    Ok(ending.get().map_or(ExitCode::from(CANCELLED), exit_code))
}

fn answer_mode(args: &CallArgs) -> AnswerMode {
    if args.yes {
        AnswerMode::Yes("answered by --yes")
    } else if stdin().is_terminal() && stdout().is_terminal() {
        AnswerMode::AskUser
    } else {
        AnswerMode::No(NO_TERMINAL)
    }
}

/// Shows the result of the tool, as the model would see it.
fn show_result(screen: &Screen, outcome: &Outcome) {
    for content in &outcome.result().content {
        let lines = match content {
            Content::Text(text) => toolcall::text::clean_block(text)
                .lines()
                .map(str::to_owned)
                .collect(),
            Content::Image(blob) => wrap(&format!("(an image, {})", blob.mime), view::width()),
            Content::Audio(blob) => wrap(&format!("(a sound, {})", blob.mime), view::width()),
            Content::Resource(resource) => wrap(&resource.uri, view::width()),
            Content::Link(link) => wrap(&format!("{}: {}", link.name, link.uri), view::width()),
            // The question showed it already, or the text beside it describes it.
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
