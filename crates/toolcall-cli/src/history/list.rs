//! `toolcall history` and `toolcall history search`: list sessions and calls.
//! They print rows of the history; they do not replay events.

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::SessionId;
use toolcall::text::duration;
use toolcall_history::{Archive, CallFilter, CallRow, SessionRow};

use super::find::{filter, filters_calls, short_ids};
use super::show::call_json;
use super::{open, open_if_exists};
use crate::args::{CallFilterArgs, HistorySearchArgs};
use crate::screen;
use crate::time::local;
use crate::view::{BOLD, DIM, fit, outcome, paint, pluralize, width};

/// How many sessions are listed without `--limit`.
const DEFAULT_SESSIONS: usize = 20;
/// How many calls are listed without `--limit`.
const DEFAULT_CALLS: usize = 100;
/// The columns of a time.
const TIME_COLUMNS: usize = 21;
const MIN_TITLE: usize = 16;

/// A session, and its calls that match the filter.
struct ListedSession {
    session: SessionRow,
    /// The shortened id.
    short_id: String,
    calls: Vec<CallRow>,
}

/// Lists sessions.
pub(super) fn sessions(filter_args: &CallFilterArgs, is_json: bool) -> anyhow::Result<ExitCode> {
    let listed = match open_if_exists()? {
        Some(archive) => listed(&archive, filter_args)?,
        None => Vec::new(),
    };
    let lines = if is_json {
        let listed: Value = listed.iter().map(as_json).collect();
        vec![format!("{listed:#}")]
    } else if listed.is_empty() {
        vec![no_sessions(filter_args).to_owned()]
    } else {
        let note = limit_note(listed.len(), DEFAULT_SESSIONS, filter_args);
        lines(&listed).into_iter().chain(note).collect()
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn listed(archive: &Archive, filter_args: &CallFilterArgs) -> anyhow::Result<Vec<ListedSession>> {
    let is_in_time = |session: &SessionRow| {
        filter_args
            .since
            .is_none_or(|since| session.latest >= since)
            && filter_args.until.is_none_or(|until| session.began < until)
    };
    let limit = filter_args.limit.unwrap_or(DEFAULT_SESSIONS);
    let mut ids = short_ids(archive)?;
    let mut listed = Vec::new();
    for session in archive.sessions()?.into_iter().filter(is_in_time) {
        if listed.len() == limit {
            break;
        }
        let calls = archive.calls(&CallFilter {
            limit: Some(usize::MAX),
            ..filter(filter_args, Some(&session.id))
        })?;
        if !calls.is_empty() || !filters_calls(filter_args) {
            let short_id = ids.remove(&session.id).unwrap_or_default();
            listed.push(ListedSession {
                session,
                short_id,
                calls,
            });
        }
    }
    Ok(listed)
}

/// Returns a note that there may be more rows, if the default limit was reached.
fn limit_note(listed: usize, default: usize, filter_args: &CallFilterArgs) -> Option<String> {
    let is_cut = listed == default && filter_args.limit.is_none();
    is_cut.then(|| paint(DIM, &format!("the latest {default}; --limit shows more")))
}

fn no_sessions(filter_args: &CallFilterArgs) -> &'static str {
    let any_time = filter_args.since.is_none() && filter_args.until.is_none();
    if any_time && !filters_calls(filter_args) {
        "no calls are recorded yet; `toolcall call` records every call"
    } else {
        "no session has a matching call; `toolcall history` lists all sessions"
    }
}

fn lines(listed: &[ListedSession]) -> Vec<String> {
    let widest = listed.iter().map(|one| one.short_id.len()).max();
    let widest = widest.unwrap_or_default();
    let mut lines = Vec::new();
    for one in listed {
        let session = &one.session;
        let agent = if session.agent.is_empty() {
            "(unknown agent)"
        } else {
            &session.agent
        };
        let room = width().saturating_sub(widest + 23);
        lines.push(format!(
            "{}  {}  {}",
            paint(BOLD, &fit(&one.short_id, widest)),
            local(session.began),
            fit(&format!("{agent} in {}", session.cwd), room).trim_end()
        ));
        let note = match &*one.calls {
            [only] => format!("{} ({})", summary(&one.calls), only.title),
            [] | [_, ..] => summary(&one.calls),
        };
        let note = fit(&note, width().saturating_sub(widest + 2));
        let indent = " ".repeat(widest + 2);
        lines.push(format!("{indent}{}", paint(DIM, note.trim_end())));
    }
    lines
}

/// Returns the number of calls, and how they ended.
pub(super) fn summary(calls: &[CallRow]) -> String {
    if calls.is_empty() {
        return "no calls".to_owned();
    }
    let by_status: Vec<String> = endings(calls)
        .into_iter()
        .map(|(status, count)| format!("{count} {}", outcome(status).word))
        .collect();
    format!(
        "{}: {}",
        pluralize(calls.len(), "call"),
        by_status.join(", ")
    )
}

/// Counts calls by status.
pub(super) fn endings(calls: &[CallRow]) -> BTreeMap<&str, u64> {
    let mut endings = BTreeMap::new();
    for call in calls {
        *endings.entry(&*call.status).or_default() += 1;
    }
    endings
}

fn as_json(listed: &ListedSession) -> Value {
    session_json(&listed.session, &listed.calls)
}

/// Returns a session as JSON.
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
pub(super) fn calls(args: &HistorySearchArgs) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let found = archive.calls(&CallFilter {
        limit: Some(args.filter.limit.unwrap_or(DEFAULT_CALLS)),
        ..filter(&args.filter, None)
    })?;
    let lines = if args.json {
        let found: Value = found.iter().map(call_json).collect();
        vec![format!("{found:#}")]
    } else if found.is_empty() {
        vec!["no call matches".to_owned()]
    } else {
        let note = limit_note(found.len(), DEFAULT_CALLS, &args.filter);
        let lines = call_lines(&found, &short_ids(&archive)?);
        lines.into_iter().chain(note).collect()
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
    // Status, run time and spaces take 24 columns. The time is shown if there is room for it.
    let room = width().saturating_sub(widest + 24);
    let (room, shows_time) = match room.checked_sub(TIME_COLUMNS) {
        Some(left) if left >= MIN_TITLE => (left, true),
        Some(_) | None => (room, false),
    };
    let line = |(call, id): (&CallRow, &String)| {
        let display = outcome(&call.status);
        let ending = format!("{} {}", display.symbol, fit(display.word, 10));
        let time = if shows_time {
            format!("{}  ", paint(DIM, &local(call.announced)))
        } else {
            String::new()
        };
        format!(
            "{}  {time}{} {:>7}  {}",
            paint(BOLD, &fit(id, widest)),
            paint(display.style, &ending),
            duration(call.ran),
            fit(&call.title, room).trim_end()
        )
    };
    calls.iter().zip(&ids).map(line).collect()
}
