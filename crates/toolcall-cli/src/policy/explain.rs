//! `toolcall policy explain`: what would become of a call, part by part, and what would change it.
//! The call is rehearsed: its tool says what it would do, and nothing is done.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};
use toolcall::{Command, Ending, Prepared, Reading, ToolRequest};
use toolcall_policy::{Explanation, Step};

use super::stance;
use crate::args::Explaining;
use crate::context::Workshop;
use crate::screen::{self, Screen};
use crate::view::{BAD, BOLD, DIM, INDENT, one_line, painted, width, wrapped};

const NOT_UNDERSTOOD: u8 = 2;

/// Explains.
pub(crate) async fn run(explaining: &Explaining, workshop: &Workshop) -> anyhow::Result<ExitCode> {
    let request = request(explaining)?;
    if let Some(tool) = &explaining.tool {
        workshop.tools_for(tool).await;
    }
    let rehearsed = workshop.engine().build().rehearse(request).await;
    workshop.close().await;
    let (screen, writing) = screen::open()?;
    let is_json = explaining.ruled.json;
    let code = match rehearsed {
        Ok(prepared) => {
            let rules = workshop.book().rules();
            let explanation = rules.explain(&prepared.intent, &workshop.setting());
            let mode = rules.mode().as_str();
            match is_json {
                true => {
                    let told = as_json(&prepared, &explanation, mode);
                    screen.line(&format!("{told:#}"));
                }
                false => show(&screen, &prepared, &explanation),
            }
            ExitCode::SUCCESS
        }
        Err(ending) => show_ending(&screen, &ending, is_json),
    };
    writing.finish()?;
    Ok(code)
}

fn request(explaining: &Explaining) -> anyhow::Result<ToolRequest> {
    Ok(match (&explaining.tool, &explaining.command) {
        (Some(tool), _) => {
            let input: Value = serde_json::from_str(&explaining.input)
                .context("--input is not JSON; write one object, such as '{\"path\": \"a\"}'")?;
            ToolRequest::new(tool.as_str(), input)
        }
        (None, command) => {
            let command = command.as_deref().unwrap_or_default();
            ToolRequest::new("run_command", json!({"command": command}))
        }
    })
}

fn show(screen: &Screen, prepared: &Prepared, explanation: &Explanation) {
    let title = one_line(&prepared.intent.title);
    screen.line(&format!(
        "{} {}",
        stance(explanation.stance),
        painted(BOLD, &title)
    ));
    say(screen, &because(&explanation.reason, &explanation.rule));
    for command in prepared.intent.commands() {
        say(screen, &reading(command));
    }
    screen.line("");
    for step in &explanation.steps {
        show_step(screen, step);
    }
    if !explanation.offers.is_empty() {
        screen.line("");
        screen.line("\"always\" would keep one of:");
    }
    for offer in &explanation.offers {
        // On one line, however long: people copy it.
        let (holds, text) = (offer.lifetime.description(), one_line(&offer.text));
        screen.line(&format!("{INDENT}{holds}: {text}"));
    }
}

/// Why, with the rule where the reason does not name it.
fn because(reason: &str, rule: &str) -> String {
    match reason.contains(rule) {
        true => reason.to_owned(),
        false => format!("{reason}, says {rule}"),
    }
}

fn show_step(screen: &Screen, step: &Step) {
    screen.line(&format!("{} {}", stance(step.stance), one_line(&step.what)));
    for line in wrapped(&because(&step.reason, &step.rule), width()) {
        screen.line(&painted(DIM, &line));
    }
    if let Some(change) = &step.change {
        say(screen, &format!("to change it: {change}"));
    }
}

fn say(screen: &Screen, text: &str) {
    for line in wrapped(text, width()) {
        screen.line(&line);
    }
}

fn reading(command: &Command) -> String {
    match &command.reading {
        Reading::Understood(parts) if parts.len() == 1 => "understood as one program".to_owned(),
        Reading::Understood(parts) => format!("understood as {} programs", parts.len()),
        Reading::Unclear(why) => format!("not understood as a whole: {why}"),
    }
}

/// How the call would end before anything was judged.
fn show_ending(screen: &Screen, ending: &Ending, is_json: bool) -> ExitCode {
    let (verdict, code) = match ending {
        Ending::Denied { .. } => ("deny", ExitCode::SUCCESS),
        Ending::Failed { .. }
        | Ending::Completed
        | Ending::Cancelled { .. }
        | Ending::TimedOut { .. }
        | Ending::Interrupted { .. } => ("fails", ExitCode::from(NOT_UNDERSTOOD)),
    };
    let reason = ending.reason().unwrap_or_default();
    match is_json {
        true => screen.line(&format!(
            "{:#}",
            json!({"verdict": verdict, "reason": reason})
        )),
        false => screen.line(&format!("{} before it is judged", painted(BAD, verdict))),
    };
    if !is_json {
        say(screen, &reason);
    }
    code
}

fn as_json(prepared: &Prepared, explanation: &Explanation, mode: &str) -> Value {
    let steps = explanation.steps.iter().map(|step| {
        json!({
            "what": step.what,
            "verdict": step.stance.as_str(),
            "rule": step.rule,
            "reason": step.reason,
            "change": step.change,
        })
    });
    let offers = explanation
        .offers
        .iter()
        .map(|offer| json!({"rule": &*offer.text, "lifetime": offer.lifetime.description()}));
    json!({
        "tool": &*prepared.intent.tool.name,
        "title": prepared.intent.title,
        "mode": mode,
        "verdict": explanation.stance.as_str(),
        "rule": explanation.rule,
        "reason": explanation.reason,
        "reading": prepared.intent.commands().map(reading_json).collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
        "offers": offers.collect::<Vec<_>>(),
    })
}

fn reading_json(command: &Command) -> Value {
    match &command.reading {
        Reading::Understood(parts) => {
            let parts = parts
                .iter()
                .map(|part| json!({"argv": part.argv, "cwd": part.cwd.to_string_lossy()}));
            json!({"text": &*command.text, "understood": parts.collect::<Vec<_>>()})
        }
        Reading::Unclear(why) => json!({"text": &*command.text, "unclear": &**why}),
    }
}
