//! `toolcall history verify`, `prune` and `forget`: check the history and delete sessions.
//! They delete only whole sessions; no session is changed.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::SessionId;
use toolcall_history::{Archive, Pruned, VerifyError, VerifyReport};

use super::{find, open, path};
use crate::args::{HistoryForgetArgs, HistoryPruneArgs, HistoryVerifyArgs};
use crate::environment::refuse_inside_tool_call;
use crate::recording::history_config;
use crate::screen;
use crate::time::local;
use crate::view::{ATTENTION, BAD, GOOD, paint, pluralize, width, wrap};

/// Checks the integrity of the history.
pub(super) fn verify(args: &HistoryVerifyArgs) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let integrity = archive.integrity().map_err(VerifyError::from);
    let verified = integrity.and_then(|()| archive.verify());
    let lines = if args.json {
        vec![verified_json(&archive, &verified)?]
    } else {
        verified_lines(&archive, &verified)?
    };
    screen::print(&lines)?;
    Ok(match verified {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn verified_lines(
    archive: &Archive,
    verified: &Result<VerifyReport, VerifyError>,
) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    match verified {
        Ok(VerifyReport { sessions, records }) => {
            let records = pluralize(*records, "record");
            let sessions = pluralize(*sessions, "session");
            let mark = paint(GOOD, "✓");
            lines.push(format!("{mark} {records} in {sessions}, all unchanged"));
        }
        Err(error) => {
            lines.push(paint(
                BAD,
                "✗ the history was modified by another program, or is damaged",
            ));
            lines.extend(wrap(&error.to_string(), width()));
        }
    }
    for (at, what) in archive.incidents()? {
        lines.push(paint(ATTENTION, &format!("! {}", local(at))));
        lines.extend(wrap(&what, width()));
    }
    Ok(lines)
}

fn verified_json(
    archive: &Archive,
    verified: &Result<VerifyReport, VerifyError>,
) -> anyhow::Result<String> {
    let incidents: Value = archive
        .incidents()?
        .into_iter()
        .map(|(at, what)| json!({"at": at.to_string(), "what": what}))
        .collect();
    let report = match verified {
        Ok(VerifyReport { sessions, records }) => json!({
            "whole": true, "sessions": sessions, "records": records, "incidents": incidents,
        }),
        Err(error) => json!({
            "whole": false, "problem": error.to_string(), "incidents": incidents,
        }),
    };
    Ok(format!("{report:#}"))
}

/// Deletes old sessions.
pub(super) fn prune(args: &HistoryPruneArgs) -> anyhow::Result<ExitCode> {
    refuse_inside_tool_call("history prune")?;
    drop(open()?);
    let pruned = toolcall_history::prune(&path()?, args.older_than, &history_config())?;
    report(pruned, args.json)
}

/// Deletes sessions by name.
pub(super) fn forget(args: &HistoryForgetArgs) -> anyhow::Result<ExitCode> {
    refuse_inside_tool_call("history forget")?;
    let archive = open()?;
    let found = args.sessions.iter();
    let ids: Vec<SessionId> = found
        .map(|name| Ok(find::session(&archive, name)?.id))
        .collect::<anyhow::Result<_>>()?;
    // An open reader keeps SQLite from truncating its write-ahead log.
    drop(archive);
    let mut total = Pruned::default();
    for id in &ids {
        let pruned = toolcall_history::forget(&path()?, id, &history_config())?;
        total.sessions += pruned.sessions;
        total.calls += pruned.calls;
        total.texts += pruned.texts;
    }
    report(total, args.json)
}

fn report(pruned: Pruned, is_json: bool) -> anyhow::Result<ExitCode> {
    let Pruned {
        sessions,
        calls,
        texts,
    } = pruned;
    let report = if is_json {
        let counts = json!({"sessions": sessions, "calls": calls, "texts": texts});
        format!("{counts:#}")
    } else {
        let (sessions, calls) = (pluralize(sessions, "session"), pluralize(calls, "call"));
        format!("deleted {sessions} with {calls}")
    };
    screen::print(&[report])?;
    Ok(ExitCode::SUCCESS)
}
