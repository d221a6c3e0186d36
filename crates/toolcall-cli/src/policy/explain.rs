//! `toolcall policy explain`: shows how the policy would decide about a call, and what would change that.
//! The engine only prepares the call: its tool states what it would do, and nothing runs.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};
use toolcall::{Command, Ending, Prepared, Reading, ToolRequest};
use toolcall_policy::{Explanation, ExplanationStep};

use super::effect_label;
use crate::args::PolicyExplainArgs;
use crate::context::CliContext;
use crate::screen::{self, Screen};
use crate::view::{BAD, BOLD, DIM, INDENT, one_line, paint, width, wrap};

const INVALID_INPUT: u8 = 2;

/// Explains the decision.
pub(crate) async fn run(
    args: &PolicyExplainArgs,
    context: &CliContext,
) -> anyhow::Result<ExitCode> {
    let request = request(args)?;
    if let Some(tool) = &args.tool {
        context.tools_for(tool).await;
    }
    let rehearsed = context.engine().build().dry_run(request).await;
    context.close().await;
    let (screen, output) = screen::open()?;
    let is_json = args.scope.json;
    let code = match rehearsed {
        Ok(prepared) => {
            let rules = context.policy_store().rules();
            let explanation = rules.explain(&prepared.intent, &context.session_context());
            let mode = rules.mode().as_str();
            if is_json {
                let object = as_json(&prepared, &explanation, mode);
                screen.line(&format!("{object:#}"));
            } else {
                show(&screen, &prepared, &explanation);
            }
            ExitCode::SUCCESS
        }
        Err(ending) => show_ending(&screen, &ending, is_json),
    };
    output.finish()?;
    Ok(code)
}

fn request(args: &PolicyExplainArgs) -> anyhow::Result<ToolRequest> {
    Ok(match (&args.tool, &args.command) {
        (Some(tool), _) => {
            let input: Value = serde_json::from_str(&args.input)
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
        effect_label(explanation.effect),
        paint(BOLD, &title)
    ));
    show_indented(screen, &because(&explanation.reason, &explanation.rule));
    for command in prepared.intent.commands() {
        show_indented(screen, &reading(command));
    }
    screen.line("");
    for step in &explanation.steps {
        show_step(screen, step);
    }
    if !explanation.offers.is_empty() {
        screen.line("");
        screen.line("\"always\" would remember one of:");
    }
    for offer in &explanation.offers {
        // On one line, however long, so that the user can copy it.
        let (holds, text) = (offer.lifetime.description(), one_line(&offer.text));
        screen.line(&format!("{INDENT}{holds}: {text}"));
    }
}

/// Returns the reason, with the rule if the reason does not name it.
pub(super) fn because(reason: &str, rule: &str) -> String {
    // Reasons name modes and paths in backticks.
    if reason.replace('`', "").contains(rule) {
        reason.to_owned()
    } else {
        format!("{reason}; rule: {rule}")
    }
}

fn show_step(screen: &Screen, step: &ExplanationStep) {
    screen.line(&format!(
        "{} {}",
        effect_label(step.effect),
        one_line(&step.what)
    ));
    for line in wrap(&because(&step.reason, &step.rule), width()) {
        screen.line(&paint(DIM, &line));
    }
    if let Some(change) = &step.change {
        show_indented(screen, &format!("to change it: {change}"));
    }
}

fn show_indented(screen: &Screen, text: &str) {
    for line in wrap(text, width()) {
        screen.line(&line);
    }
}

fn reading(command: &Command) -> String {
    match &command.reading {
        Reading::Understood(parts) if parts.len() == 1 => "understood as one program".to_owned(),
        Reading::Understood(parts) => format!("understood as {} programs", parts.len()),
        Reading::Unclear(why) => format!("not fully understood: {why}"),
    }
}

/// Shows a call that would end before the policy evaluates it.
fn show_ending(screen: &Screen, ending: &Ending, is_json: bool) -> ExitCode {
    let (verdict, code) = match ending {
        Ending::Denied { .. } => ("deny", ExitCode::SUCCESS),
        Ending::Failed { .. }
        | Ending::Completed
        | Ending::Cancelled { .. }
        | Ending::TimedOut { .. }
        | Ending::Interrupted { .. } => ("fails", ExitCode::from(INVALID_INPUT)),
    };
    let reason = ending.reason().unwrap_or_default();
    if is_json {
        let object = json!({"verdict": verdict, "reason": reason});
        screen.line(&format!("{object:#}"));
    } else {
        let verdict = paint(BAD, verdict);
        screen.line(&format!("{verdict} before the policy is asked"));
        show_indented(screen, &reason);
    }
    code
}

fn as_json(prepared: &Prepared, explanation: &Explanation, mode: &str) -> Value {
    let steps = explanation.steps.iter().map(|step| {
        json!({
            "what": step.what,
            "verdict": step.effect.as_str(),
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
        "verdict": explanation.effect.as_str(),
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
