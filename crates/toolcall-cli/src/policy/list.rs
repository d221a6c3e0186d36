//! `toolcall policy list` and `forget`: the rules that hold, and answers that are taken back.
//! What is listed is what the files say; nothing is judged.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolcall::Effect;
use toolcall_policy::{
    FileState, LayerSource, PolicyFile, PolicyRule, RememberedRule, RememberedRuleId, RuleEffect,
};

use super::stance;
use crate::args::{Forgetting, Ruled};
use crate::context::Workshop;
use crate::places::by_a_person;
use crate::screen::{self, Screen};
use crate::view::{ATTENTION, BAD, BOLD, DIM, one_line, painted, width, wrapped};

/// Lists what holds.
pub(crate) fn run(ruled: &Ruled, workshop: &Workshop) -> anyhow::Result<ExitCode> {
    let sources = workshop.sources();
    let files: Vec<&PolicyFile> = sources
        .files()
        .iter()
        .filter(|file| file.scope != LayerSource::Remembered)
        .collect();
    let kept = workshop.book().kept();
    let (screen, writing) = screen::open()?;
    let mode = workshop.book().rules().mode().as_str();
    match (ruled.json, kept) {
        (true, kept) => {
            let listed = json!({
                "mode": mode,
                "problem": workshop.book().problem().map(|problem| problem.to_string()),
                "files": files.iter().map(|file| file_json(file)).collect::<Vec<_>>(),
                "kept": kept.unwrap_or_default().iter().map(kept_json).collect::<Vec<_>>(),
            });
            screen.line(&format!("{listed:#}"));
        }
        (false, kept) => {
            screen.line(&format!("mode {}", painted(BOLD, mode)));
            if let Some(problem) = workshop.book().problem() {
                let said = format!("everything is denied: {}", one_line(&problem.to_string()));
                screen.line(&painted(BAD, &said));
            }
            files.iter().for_each(|file| show_file(&screen, file));
            show_kept(&screen, &kept.unwrap_or_default());
        }
    }
    writing.finish()?;
    Ok(match workshop.book().problem() {
        Some(_) => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    })
}

/// Takes answers back.
pub(crate) fn forget(forgetting: &Forgetting, workshop: &Workshop) -> anyhow::Result<ExitCode> {
    by_a_person("policy forget")?;
    let book = workshop.book();
    let ids: Vec<RememberedRuleId> = match forgetting.all {
        true => book.kept()?.into_iter().map(|kept| kept.id).collect(),
        false => forgetting.ids.iter().map(RememberedRuleId::new).collect(),
    };
    let gone = book.forget(&ids)?;
    let is_gone = |id: &&RememberedRuleId| gone.iter().any(|kept| kept.id == **id);
    if let Some(unknown) = ids.iter().find(|id| !is_gone(id)) {
        bail!(
            "there is no kept answer `{unknown}` for this folder; `toolcall policy list` shows them"
        );
    }
    let (screen, writing) = screen::open()?;
    match forgetting.ruled.json {
        true => {
            let all: Vec<Value> = gone.iter().map(kept_json).collect();
            screen.line(&format!("{:#}", Value::Array(all)));
        }
        false if gone.is_empty() => {
            screen.line("nothing was kept");
        }
        false => {
            for kept in &gone {
                screen.line(&format!("forgot {} {}", kept.id, one_line(&kept.text)));
            }
        }
    }
    writing.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn show_file(screen: &Screen, file: &PolicyFile) {
    let path = one_line(&file.path.to_string_lossy());
    let (layer, note) = match &file.state {
        FileState::Absent => {
            screen.line("");
            screen.line(&painted(DIM, &format!("{path} (none)")));
            return;
        }
        // What is wrong was said above.
        FileState::Broken(_) => return,
        FileState::Holds(layer) => (layer, ""),
        FileState::OnlyTightens(layer) => (layer, " (not trusted: what it allows is left out)"),
    };
    screen.line("");
    screen.line(&format!("{path}{}", painted(ATTENTION, note)));
    for rule in layer.rules() {
        screen.line(&format!(
            "  {} {}",
            stance(rule.stance()),
            one_line(&rule.text())
        ));
    }
}

fn show_kept(screen: &Screen, kept: &[RememberedRule]) {
    if kept.is_empty() {
        return;
    }
    screen.line("");
    screen.line("kept answers");
    for rule in kept {
        let said = stance(stance_of(rule.effect));
        let id = painted(BOLD, &rule.id.to_string());
        let text = one_line(&rule.text);
        screen.line(&format!("  {said} {id} {text}"));
        let note = format!("{}. {}", rule.lifetime.description(), rule.comment);
        for line in wrapped(&note, width()) {
            screen.line(&painted(DIM, &line));
        }
    }
}

fn stance_of(effect: Effect) -> RuleEffect {
    match effect {
        Effect::Allow => RuleEffect::Allow,
        Effect::Deny => RuleEffect::Deny,
    }
}

fn file_json(file: &PolicyFile) -> Value {
    let (state, layer) = match &file.state {
        FileState::Absent => ("absent", None),
        FileState::Holds(layer) => ("good", Some(layer)),
        FileState::OnlyTightens(layer) => ("untrusted", Some(layer)),
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
    json!({"effect": rule.stance().as_str(), "rule": rule.text()})
}

fn kept_json(kept: &RememberedRule) -> Value {
    json!({
        "id": kept.id.to_string(),
        "effect": stance_of(kept.effect).as_str(),
        "rule": kept.text,
        "lifetime": kept.lifetime.description(),
        "comment": kept.comment,
        "file": kept.file.to_string_lossy(),
    })
}
