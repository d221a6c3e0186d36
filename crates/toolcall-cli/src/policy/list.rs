//! `toolcall policy list` and `forget`: list the rules that apply, and forget remembered answers.
//! They list the contents of files; they evaluate nothing.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolcall_policy::{
    FileState, LayerSource, PolicyFile, PolicyRule, RememberedRule, RememberedRuleId, RuleEffect,
};

use super::effect_label;
use crate::args::{PolicyForgetArgs, PolicyScopeArgs};
use crate::context::CliContext;
use crate::environment::refuse_inside_tool_call;
use crate::screen::{self, Screen};
use crate::view::{ATTENTION, BAD, BOLD, DIM, one_line, paint, width, wrap};

/// Lists the rules that apply.
pub(crate) fn run(args: &PolicyScopeArgs, context: &CliContext) -> anyhow::Result<ExitCode> {
    let sources = context.sources();
    let files: Vec<&PolicyFile> = sources
        .files()
        .iter()
        .filter(|file| file.scope != LayerSource::Remembered)
        .collect();
    let store = context.policy_store();
    let remembered = store.kept().unwrap_or_default();
    let (screen, output) = screen::open()?;
    let (mode, problem) = (store.rules().mode().as_str(), store.problem());
    if args.json {
        let listed = json!({
            "mode": mode,
            "problem": problem.as_ref().map(|problem| problem.to_string()),
            "files": files.iter().map(|file| file_json(file)).collect::<Vec<_>>(),
            "kept": remembered.iter().map(remembered_json).collect::<Vec<_>>(),
        });
        screen.line(&format!("{listed:#}"));
    } else {
        screen.line(&format!("mode {}", paint(BOLD, mode)));
        if let Some(problem) = &problem {
            let text = format!("everything is denied: {}", one_line(&problem.to_string()));
            screen.line(&paint(BAD, &text));
        }
        files.iter().for_each(|file| show_file(&screen, file));
        show_remembered(&screen, &remembered);
    }
    output.finish()?;
    Ok(match problem {
        Some(_) => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    })
}

/// Forgets answers.
pub(crate) fn forget(args: &PolicyForgetArgs, context: &CliContext) -> anyhow::Result<ExitCode> {
    refuse_inside_tool_call("policy forget")?;
    let store = context.policy_store();
    let ids: Vec<RememberedRuleId> = if args.all {
        store.kept()?.into_iter().map(|rule| rule.id).collect()
    } else {
        args.ids.iter().map(RememberedRuleId::new).collect()
    };
    let forgotten = store.forget(&ids)?;
    let is_forgotten = |id: &&RememberedRuleId| forgotten.iter().any(|rule| rule.id == **id);
    if let Some(unknown) = ids.iter().find(|id| !is_forgotten(id)) {
        bail!(
            "there is no remembered answer `{unknown}` for this directory; `toolcall policy list` shows them"
        );
    }
    let (screen, output) = screen::open()?;
    if args.scope.json {
        let all: Vec<Value> = forgotten.iter().map(remembered_json).collect();
        screen.line(&format!("{:#}", Value::Array(all)));
    } else if forgotten.is_empty() {
        screen.line("no answers are remembered");
    } else {
        for rule in &forgotten {
            screen.line(&format!("forgot {} {}", rule.id, one_line(&rule.text)));
        }
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn show_file(screen: &Screen, file: &PolicyFile) {
    let path = one_line(&file.path.to_string_lossy());
    let (layer, note) = match &file.state {
        FileState::Absent => {
            screen.line("");
            screen.line(&paint(DIM, &format!("{path} (none)")));
            return;
        }
        // The error is shown above.
        FileState::Broken(_) => return,
        FileState::Active(layer) => (layer, ""),
        FileState::Untrusted(layer) => (layer, " (not trusted: its allow rules do not apply)"),
    };
    screen.line("");
    screen.line(&format!("{path}{}", paint(ATTENTION, note)));
    for rule in layer.rules() {
        screen.line(&format!(
            "  {} {}",
            effect_label(rule.effect()),
            one_line(&rule.text())
        ));
    }
}

fn show_remembered(screen: &Screen, remembered: &[RememberedRule]) {
    if remembered.is_empty() {
        return;
    }
    screen.line("");
    screen.line("remembered answers");
    for rule in remembered {
        let effect = effect_label(rule.effect.into());
        let id = paint(BOLD, &rule.id.to_string());
        let text = one_line(&rule.text);
        screen.line(&format!("  {effect} {id} {text}"));
        let note = format!("{}. {}", rule.lifetime.description(), rule.comment);
        for line in wrap(&note, width()) {
            screen.line(&paint(DIM, &line));
        }
    }
}

fn file_json(file: &PolicyFile) -> Value {
    let (state, layer) = match &file.state {
        FileState::Absent => ("absent", None),
        FileState::Active(layer) => ("good", Some(layer)),
        FileState::Untrusted(layer) => ("untrusted", Some(layer)),
        FileState::Broken(_) => ("broken", None),
    };
    let rules: Vec<Value> = layer
        .into_iter()
        .flat_map(|layer| layer.rules())
        .map(rule_json)
        .collect();
    json!({"file": file.path.to_string_lossy(), "state": state, "rules": rules})
}

fn rule_json(rule: &PolicyRule) -> Value {
    json!({"effect": rule.effect().as_str(), "rule": rule.text()})
}

fn remembered_json(rule: &RememberedRule) -> Value {
    json!({
        "id": rule.id.to_string(),
        "effect": RuleEffect::from(rule.effect).as_str(),
        "rule": rule.text,
        "lifetime": rule.lifetime.description(),
        "comment": rule.comment,
        "file": rule.file.to_string_lossy(),
    })
}
