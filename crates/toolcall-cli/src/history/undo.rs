//! `toolcall history undo`: restores the files that a call changed, after the user confirms.
//! It shows the changes first, and changes files only through the host of the session's directory.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use toolcall::{Content, FileChange};
use toolcall_history::{Archive, CallRow, UndoResult};
use toolcall_tools::{Toolset, ToolsetConfig};

use super::find::{self, full_name};
use super::open;
use crate::args::HistoryUndoArgs;
use crate::consent::{Consent, ask};
use crate::environment::{UserEnvironment, refuse_inside_tool_call};
use crate::screen;
use crate::view::{BOLD, fit, one_line, paint, preview, width};

/// Undoes a call.
pub(super) async fn run(args: &HistoryUndoArgs) -> anyhow::Result<ExitCode> {
    refuse_inside_tool_call("history undo")?;
    let archive = open()?;
    let call = find::call(&archive, &args.selector)?;
    let kept = archive.undo_content(&call.session, &call.id)?;
    let toolset = toolset(&archive, &call)?;
    let host = toolset.host();
    let plan = kept.look(&*host).await?;
    let edits: Vec<Content> = plan.edits().cloned().map(Content::Edit).collect();
    if !args.json {
        show(&call, &edits)?;
    }
    let consent = if edits.is_empty() {
        Consent::Given
    } else {
        consent(args)?
    };
    if consent != Consent::Given {
        return refuse(args, &call, &edits, consent);
    }
    let result = plan.carry_out(&*host).await?;
    report(args, &call, &edits, &result)
}

/// Opens the tools of the session's directory, for access to its files.
fn toolset(archive: &Archive, call: &CallRow) -> anyhow::Result<Toolset> {
    let session = find::session(archive, call.session.as_str())?;
    if session.cwd.is_empty() {
        bail!(
            "the directory of session `{}` is not recorded, so its calls cannot be undone",
            one_line(session.id.as_str())
        );
    }
    let state = UserEnvironment::from_env()?.dirs.state;
    let settings = ToolsetConfig::new(vec![PathBuf::from(&session.cwd)], state);
    Toolset::open(settings)
        .with_context(|| format!("the directory `{}` cannot be opened", session.cwd))
}

fn show(call: &CallRow, edits: &[Content]) -> anyhow::Result<()> {
    let room = width().saturating_sub(5);
    let mut lines = vec![format!(
        "undo {}",
        paint(BOLD, fit(&call.title, room).trim_end())
    )];
    if edits.is_empty() {
        lines.push("  the files are already as they were before this call".to_owned());
    } else {
        lines.extend(preview(edits, width()));
    }
    screen::print(&lines)
}

fn consent(args: &HistoryUndoArgs) -> anyhow::Result<Consent> {
    if args.yes {
        return Ok(Consent::Given);
    }
    if args.json {
        return Ok(Consent::Unasked);
    }
    Ok(ask("Undo this?")?)
}

fn refuse(
    args: &HistoryUndoArgs,
    call: &CallRow,
    edits: &[Content],
    consent: Consent,
) -> anyhow::Result<ExitCode> {
    if args.json {
        screen::print(&[as_json(call, edits, None)])?;
    } else if consent == Consent::Unasked {
        bail!("there is no terminal to ask at; add --yes to undo it");
    } else {
        screen::print(&["nothing was undone".to_owned()])?;
    }
    Ok(ExitCode::FAILURE)
}

fn report(
    args: &HistoryUndoArgs,
    call: &CallRow,
    edits: &[Content],
    result: &UndoResult,
) -> anyhow::Result<ExitCode> {
    let lines = if args.json {
        vec![as_json(call, edits, Some(result))]
    } else {
        let line = |path: &PathBuf| format!("restored {}", one_line(&path.to_string_lossy()));
        result.restored.iter().map(line).collect()
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(call: &CallRow, edits: &[Content], result: Option<&UndoResult>) -> String {
    let paths = |paths: &[PathBuf]| -> Value {
        let text = paths.iter().map(|path| path.to_string_lossy());
        text.map(Value::from).collect()
    };
    let nothing = UndoResult::default();
    let done = result.unwrap_or(&nothing);
    let object = json!({
        "call": full_name(call),
        "undone": result.is_some(),
        "changes": edits.iter().filter_map(change_json).collect::<Value>(),
        "restored": paths(&done.restored),
        "unchanged": paths(&done.unchanged),
    });
    format!("{object:#}")
}

fn change_json(content: &Content) -> Option<Value> {
    let edit = content.as_edit()?;
    let path = edit.path.to_string_lossy();
    Some(match &edit.change {
        FileChange::Added { .. } => json!({"creates": path}),
        FileChange::Modified { .. } => json!({"changes": path}),
        FileChange::Deleted { .. } => json!({"deletes": path}),
        FileChange::Moved { to } => json!({"moves": path, "to": to.to_string_lossy()}),
    })
}
