//! `toolcall history verify`, `prune` and `forget`: whether the history is whole, and what leaves it.
//! Only what is named goes; no session is changed.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::SessionId;
use toolcall_history::{self as memory, Archive, Pruned, VerifyError, VerifyReport};

use super::{find, open, path};
use crate::args::{Leaving, Pruning, Verifying};
use crate::places::by_a_person;
use crate::recording::settings;
use crate::screen;
use crate::view::{ATTENTION, BAD, GOOD, counted, painted, width, wrapped};
use crate::when::local;

/// Checks that the history is whole.
pub(super) fn verify(verifying: &Verifying) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let sound = archive.integrity().map_err(VerifyError::from);
    let verified = sound.and_then(|()| archive.verify());
    let lines = match verifying.json {
        true => vec![verified_json(&archive, &verified)?],
        false => verified_lines(&archive, &verified)?,
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
            let told = format!("{records} records of {sessions} sessions are as they were written");
            lines.push(format!("{} {told}", painted(GOOD, "✓")));
        }
        Err(error) => {
            lines.push(painted(
                BAD,
                "✗ the history was changed from outside, or is damaged",
            ));
            lines.extend(wrapped(&error.to_string(), width()));
        }
    }
    for (at, what) in archive.incidents()? {
        lines.push(painted(ATTENTION, &format!("! {}", local(at))));
        lines.extend(wrapped(&what, width()));
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
    let told = match verified {
        Ok(VerifyReport { sessions, records }) => json!({
            "whole": true, "sessions": sessions, "records": records, "incidents": incidents,
        }),
        Err(error) => json!({
            "whole": false, "problem": error.to_string(), "incidents": incidents,
        }),
    };
    Ok(format!("{told:#}"))
}

/// Forgets what is old.
pub(super) fn prune(pruning: &Pruning) -> anyhow::Result<ExitCode> {
    by_a_person("history prune")?;
    drop(open()?);
    let pruned = memory::prune(&path()?, pruning.older_than, &settings())?;
    tell(pruned, pruning.json)
}

/// Forgets sessions.
pub(super) fn forget(leaving: &Leaving) -> anyhow::Result<ExitCode> {
    by_a_person("history forget")?;
    let archive = open()?;
    let found = leaving.sessions.iter();
    let ids: Vec<SessionId> = found
        .map(|name| Ok(find::session(&archive, name)?.id))
        .collect::<anyhow::Result<_>>()?;
    // Whoever reads keeps the journal from being emptied.
    drop(archive);
    let mut all = Pruned::default();
    for id in &ids {
        let pruned = memory::forget(&path()?, id, &settings())?;
        all.sessions += pruned.sessions;
        all.calls += pruned.calls;
        all.texts += pruned.texts;
    }
    tell(all, leaving.json)
}

fn tell(pruned: Pruned, is_json: bool) -> anyhow::Result<ExitCode> {
    let Pruned {
        sessions,
        calls,
        texts,
    } = pruned;
    let told = match is_json {
        true => format!(
            "{:#}",
            json!({"sessions": sessions, "calls": calls, "texts": texts})
        ),
        false => format!(
            "forgot {} with {}",
            counted(sessions, "session"),
            counted(calls, "call")
        ),
    };
    screen::print(&[told])?;
    Ok(ExitCode::SUCCESS)
}
