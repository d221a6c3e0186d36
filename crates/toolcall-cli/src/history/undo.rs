//! `toolcall history undo`: what a call changed in files is taken back, if a person says so.
//! What would be done is shown first; files are changed by the host of that session's folder alone.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use toolcall::{Change, Content};
use toolcall_history::{Archive, CallRow, UndoResult};
use toolcall_tools::{Toolset, ToolsetConfig};

use super::find::{self, full_name};
use super::open;
use crate::args::Undoing;
use crate::consent::{Consent, ask};
use crate::places::{Person, by_a_person};
use crate::screen;
use crate::view::{BOLD, fitted, one_line, painted, preview, width};

/// Undoes a call.
pub(super) async fn run(undoing: &Undoing) -> anyhow::Result<ExitCode> {
    by_a_person("history undo")?;
    let archive = open()?;
    let call = find::call(&archive, &undoing.named)?;
    let kept = archive.kept_for_undo(&call.session, &call.id)?;
    let kit = kit(&archive, &call)?;
    let host = kit.host();
    let plan = kept.look(&*host).await?;
    let edits: Vec<Content> = plan.edits().cloned().map(Content::Edit).collect();
    if !undoing.json {
        show(&call, &edits)?;
    }
    let consent = match edits.is_empty() {
        true => Consent::Given,
        false => consent(undoing)?,
    };
    if consent != Consent::Given {
        return refuse(undoing, &call, &edits, consent);
    }
    let undone = plan.carry_out(&*host).await?;
    tell(undoing, &call, &edits, &undone)
}

/// The files of the session, as its calls saw them.
fn kit(archive: &Archive, call: &CallRow) -> anyhow::Result<Toolset> {
    let session = find::session(archive, call.session.as_str())?;
    if session.cwd.is_empty() {
        bail!(
            "the folder of `{}` was not kept, so nothing can be undone there",
            one_line(session.id.as_str())
        );
    }
    let state = Person::here()?.places.state;
    let settings = ToolsetConfig::new(vec![PathBuf::from(&session.cwd)], state);
    Toolset::open(settings).with_context(|| format!("`{}` cannot be worked in", session.cwd))
}

fn show(call: &CallRow, edits: &[Content]) -> anyhow::Result<()> {
    let room = width().saturating_sub(5);
    let mut lines = vec![format!(
        "undo {}",
        painted(BOLD, fitted(&call.title, room).trim_end())
    )];
    match edits.is_empty() {
        true => lines.push("  everything is as it was before this call already".to_owned()),
        false => lines.extend(preview(edits, width())),
    }
    screen::print(&lines)
}

fn consent(undoing: &Undoing) -> anyhow::Result<Consent> {
    if undoing.yes {
        return Ok(Consent::Given);
    }
    if undoing.json {
        return Ok(Consent::Unasked);
    }
    Ok(ask("Do this?")?)
}

fn refuse(
    undoing: &Undoing,
    call: &CallRow,
    edits: &[Content],
    consent: Consent,
) -> anyhow::Result<ExitCode> {
    match (undoing.json, consent) {
        (true, _) => screen::print(&[told(call, edits, None)])?,
        (false, Consent::Unasked) => {
            bail!("there is no terminal to ask at; add --yes to undo it")
        }
        (false, Consent::Refused | Consent::Given) => {
            screen::print(&["nothing was undone".to_owned()])?;
        }
    }
    Ok(ExitCode::FAILURE)
}

fn tell(
    undoing: &Undoing,
    call: &CallRow,
    edits: &[Content],
    undone: &UndoResult,
) -> anyhow::Result<ExitCode> {
    let lines = match undoing.json {
        true => vec![told(call, edits, Some(undone))],
        false => {
            let path = |path: &PathBuf| format!("as before: {}", one_line(&path.to_string_lossy()));
            undone.restored.iter().map(path).collect()
        }
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn told(call: &CallRow, edits: &[Content], undone: Option<&UndoResult>) -> String {
    let paths = |paths: &[PathBuf]| -> Value {
        let text = paths.iter().map(|path| path.to_string_lossy());
        text.map(Value::from).collect()
    };
    let nothing = UndoResult::default();
    let done = undone.unwrap_or(&nothing);
    let told = json!({
        "call": full_name(call),
        "undone": undone.is_some(),
        "changes": edits.iter().filter_map(change).collect::<Value>(),
        "restored": paths(&done.restored),
        "unchanged": paths(&done.unchanged),
    });
    format!("{told:#}")
}

fn change(content: &Content) -> Option<Value> {
    let edit = content.as_edit()?;
    let path = edit.path.to_string_lossy();
    Some(match &edit.change {
        Change::Added { .. } => json!({"creates": path}),
        Change::Modified { .. } => json!({"changes": path}),
        Change::Deleted { .. } => json!({"deletes": path}),
        Change::Moved { to } => json!({"moves": path, "to": to.to_string_lossy()}),
    })
}
