//! Lists of sessions and of calls.
//! What is listed is what was kept; nothing is folded here.

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::SessionId;
use toolcall::text::duration;
use toolcall_history::{Archive, CallRow, Filter, SessionRow};

use super::find::{filter, is_about_calls, short_ids};
use super::show::call_json;
use super::{open, open_if_there};
use crate::args::{Searching, Wanted};
use crate::screen;
use crate::view::{BOLD, DIM, counted, fitted, outcome, painted, width};
use crate::when::local;

/// How many sessions are listed if nothing else is said.
const USUAL_SESSIONS: usize = 20;
/// How many calls are listed if nothing else is said.
const USUAL_CALLS: usize = 100;
/// The columns of a time.
const TIME: usize = 21;
const LEAST_TITLE: usize = 16;

/// A session, and those of its calls that are wanted.
struct Listed {
    session: SessionRow,
    /// As much of its id as is needed.
    short: String,
    calls: Vec<CallRow>,
}

/// Lists sessions.
pub(super) fn sessions(wanted: &Wanted, is_json: bool) -> anyhow::Result<ExitCode> {
    let listed = match open_if_there()? {
        Some(archive) => listed(&archive, wanted)?,
        None => Vec::new(),
    };
    let lines = match is_json {
        true => vec![format!(
            "{:#}",
            listed.iter().map(as_json).collect::<Value>()
        )],
        false if listed.is_empty() => vec![none(wanted).to_owned()],
        false => {
            let note = limit_note(listed.len(), USUAL_SESSIONS, wanted);
            lines(&listed).into_iter().chain(note).collect()
        }
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn listed(archive: &Archive, wanted: &Wanted) -> anyhow::Result<Vec<Listed>> {
    let is_in_time = |session: &SessionRow| {
        wanted.since.is_none_or(|since| session.latest >= since)
            && wanted.until.is_none_or(|until| session.began < until)
    };
    let most = wanted.limit.unwrap_or(USUAL_SESSIONS);
    let mut ids = short_ids(archive)?;
    let mut listed = Vec::new();
    for session in archive.sessions()?.into_iter().filter(is_in_time) {
        if listed.len() == most {
            break;
        }
        let calls = archive.calls(&Filter {
            limit: Some(usize::MAX),
            ..filter(wanted, Some(&session.id))
        })?;
        if !calls.is_empty() || !is_about_calls(wanted) {
            let short = ids.remove(&session.id).unwrap_or_default();
            listed.push(Listed {
                session,
                short,
                calls,
            });
        }
    }
    Ok(listed)
}

/// That there may be more, where nobody asked for so few.
fn limit_note(listed: usize, usual: usize, wanted: &Wanted) -> Option<String> {
    let is_cut = listed == usual && wanted.limit.is_none();
    is_cut.then(|| painted(DIM, &format!("the latest {usual}; --limit shows more")))
}

fn none(wanted: &Wanted) -> &'static str {
    let any_time = wanted.since.is_none() && wanted.until.is_none();
    match any_time && !is_about_calls(wanted) {
        true => "nothing was recorded yet; `toolcall call` records every call",
        false => "no session has a call like that; `toolcall history` lists all of them",
    }
}

fn lines(listed: &[Listed]) -> Vec<String> {
    let widest = listed.iter().map(|one| one.short.len()).max();
    let widest = widest.unwrap_or_default();
    let mut lines = Vec::new();
    for one in listed {
        let session = &one.session;
        let agent = match session.agent.is_empty() {
            true => "(unknown agent)",
            false => &session.agent,
        };
        let room = width().saturating_sub(widest + 23);
        lines.push(format!(
            "{}  {}  {}",
            painted(BOLD, &fitted(&one.short, widest)),
            local(session.began),
            fitted(&format!("{agent} in {}", session.cwd), room).trim_end()
        ));
        let note = match &*one.calls {
            [only] => format!("{} ({})", summary(&one.calls), only.title),
            [] | [_, ..] => summary(&one.calls),
        };
        let note = fitted(&note, width().saturating_sub(widest + 2));
        let indent = " ".repeat(widest + 2);
        lines.push(format!("{indent}{}", painted(DIM, note.trim_end())));
    }
    lines
}

/// How many calls there are, and how they ended.
pub(super) fn summary(calls: &[CallRow]) -> String {
    if calls.is_empty() {
        return "no calls".to_owned();
    }
    let how: Vec<String> = endings(calls)
        .into_iter()
        .map(|(status, count)| format!("{count} {}", outcome(status).word))
        .collect();
    format!("{}: {}", counted(calls.len(), "call"), how.join(", "))
}

/// How often calls ended how.
pub(super) fn endings(calls: &[CallRow]) -> BTreeMap<&str, u64> {
    let mut endings = BTreeMap::new();
    for call in calls {
        *endings.entry(&*call.status).or_default() += 1;
    }
    endings
}

fn as_json(listed: &Listed) -> Value {
    session_json(&listed.session, &listed.calls)
}

/// A session for programs.
pub(super) fn session_json(session: &SessionRow, calls: &[CallRow]) -> Value {
    json!({
        "session": session.id.as_str(),
        "agent": session.agent,
        "client": session.client,
        "cwd": session.cwd,
        "began": session.began.to_string(),
        "latest": session.latest.to_string(),
        "records": session.records,
        "calls": calls.len(),
        "endings": endings(calls),
    })
}

/// Lists calls of every session.
pub(super) fn calls(searching: &Searching) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let found = archive.calls(&Filter {
        limit: Some(searching.wanted.limit.unwrap_or(USUAL_CALLS)),
        ..filter(&searching.wanted, None)
    })?;
    let lines = match searching.json {
        true => vec![format!(
            "{:#}",
            found.iter().map(call_json).collect::<Value>()
        )],
        false if found.is_empty() => vec!["no call is like that".to_owned()],
        false => {
            let note = limit_note(found.len(), USUAL_CALLS, &searching.wanted);
            let lines = call_lines(&found, &short_ids(&archive)?);
            lines.into_iter().chain(note).collect()
        }
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn call_lines(calls: &[CallRow], sessions: &HashMap<SessionId, String>) -> Vec<String> {
    let name = |call: &CallRow| {
        let session = sessions.get(&call.session).map_or("", String::as_str);
        format!("{session}/{}", call.id)
    };
    let ids: Vec<String> = calls.iter().map(name).collect();
    let widest = ids.iter().map(String::len).max().unwrap_or_default();
    // Ending, run time and the spaces between take the rest, and the time, where there is room.
    let room = width().saturating_sub(widest + 24);
    let (room, is_roomy) = match room.checked_sub(TIME) {
        Some(left) if left >= LEAST_TITLE => (left, true),
        Some(_) | None => (room, false),
    };
    let line = |(call, id): (&CallRow, &String)| {
        let sign = outcome(&call.status);
        let ending = format!("{} {}", sign.symbol, fitted(sign.word, 10));
        let when = match is_roomy {
            true => format!("{}  ", painted(DIM, &local(call.announced))),
            false => String::new(),
        };
        format!(
            "{}  {when}{} {:>7}  {}",
            painted(BOLD, &fitted(id, widest)),
            painted(sign.style, &ending),
            duration(call.ran),
            fitted(&call.title, room).trim_end()
        )
    };
    calls.iter().zip(&ids).map(line).collect()
}
