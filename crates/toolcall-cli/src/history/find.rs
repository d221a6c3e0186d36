//! Finds the session or call that the user named.
//! If the name is ambiguous, it lists the candidates and chooses none.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use toolcall::{CallId, Kind, SessionId};
use toolcall_history::{Archive, CallFilter, CallRow, SessionRow};

use crate::args::{CallFilterArgs, CallSelector};
use crate::view::one_line;

/// The name of the latest session or call.
const LAST: &str = "last";
/// How many candidates an error lists.
const MAX_CANDIDATES: usize = 5;
/// The minimum length of shortened ids.
const MIN_ID_LENGTH: usize = 8;

/// Finds a session by its id, a unique beginning of its id, or `last`.
pub(super) fn session(archive: &Archive, name: &str) -> anyhow::Result<SessionRow> {
    let sessions = archive.sessions()?;
    let mut found: Vec<SessionRow> = match name {
        LAST => sessions.into_iter().take(1).collect(),
        _ => with_id(sessions, name, |session| session.id.as_str()),
    };
    match (found.len(), found.pop()) {
        (1, Some(one)) => Ok(one),
        (_, None) => bail!("there is no session `{name}`; `toolcall history` lists them"),
        (many, Some(last)) => {
            found.push(last);
            let ids = candidates(found.iter().map(|session| session.id.as_str()));
            bail!("the ids of {many} sessions begin with `{name}`: {ids}; type more of the id")
        }
    }
}

/// Finds a call by its id or the beginning of its id, with its session if needed; by a session that
/// has a single call; or by `last`.
pub(super) fn call(archive: &Archive, selector: &CallSelector) -> anyhow::Result<CallRow> {
    let (of, name) = match (&selector.session, selector.call.rsplit_once('/')) {
        (Some(of), _) => (Some(&**of), &*selector.call),
        (None, Some((of, name))) => (Some(of), name),
        (None, None) => (None, &*selector.call),
    };
    let found = match of {
        Some(of) => {
            let session = session(archive, of)?.id;
            calls_named(archive, Some(&session), name)?
        }
        None => in_any_session(archive, name)?,
    };
    one_call(found, name)
}

fn one_call(mut found: Vec<CallRow>, name: &str) -> anyhow::Result<CallRow> {
    match (found.len(), found.pop()) {
        (1, Some(one)) => Ok(one),
        (_, None) => bail!("there is no call `{name}`; `toolcall history search` lists them"),
        (many, Some(last)) => {
            found.push(last);
            let full: Vec<String> = found.iter().map(full_name).collect();
            let ids = candidates(full.iter().map(String::as_str));
            bail!(
                "the ids of {many} calls match `{name}`: {ids}; add the session, as in SESSION/CALL, or use `last`"
            )
        }
    }
}

/// Finds calls of every session.
fn in_any_session(archive: &Archive, name: &str) -> anyhow::Result<Vec<CallRow>> {
    let found = calls_named(archive, None, name)?;
    if !found.is_empty() {
        return Ok(found);
    }
    // The id of a session with a single call also names that call.
    let sessions = with_id(archive.sessions()?, name, |session| session.id.as_str());
    match &*sessions {
        [session] => Ok(archive.calls(&all_calls(Some(&session.id)))?),
        [] | [_, ..] => Ok(Vec::new()),
    }
}

/// Returns the calls of this name, the latest first.
fn calls_named(
    archive: &Archive,
    session: Option<&SessionId>,
    name: &str,
) -> anyhow::Result<Vec<CallRow>> {
    if name == LAST {
        let latest = CallFilter {
            limit: Some(1),
            ..all_calls(session)
        };
        return Ok(archive.calls(&latest)?);
    }
    // A whole id is looked up without reading every call.
    let id = CallId::new(name);
    let of = archive.sessions_of(&id)?;
    let is_wanted = |of: &&SessionId| session.is_none_or(|session| session == *of);
    let exact: Result<Vec<_>, _> = of
        .iter()
        .rev()
        .filter(is_wanted)
        .map(|of| archive.call(of, &id).map(|call| call.line))
        .collect();
    let exact = exact?;
    if !exact.is_empty() {
        return Ok(exact);
    }
    let calls = archive.calls(&all_calls(session))?;
    Ok(with_id(calls, name, |call| call.id.as_str()))
}

fn all_calls(session: Option<&SessionId>) -> CallFilter {
    CallFilter {
        session: session.cloned(),
        limit: Some(usize::MAX),
        ..CallFilter::default()
    }
}

/// Returns the items with this id, or else those whose id begins with it.
fn with_id<T>(all: Vec<T>, name: &str, id: impl Fn(&T) -> &str) -> Vec<T> {
    let (exact, other): (Vec<T>, Vec<T>) = all.into_iter().partition(|one| id(one) == name);
    if !exact.is_empty() {
        return exact;
    }
    let begins = other.into_iter().filter(|one| id(one).starts_with(name));
    begins.collect()
}

/// Returns the name of a call with its session, as the user can type it.
pub(super) fn full_name(call: &CallRow) -> String {
    format!("{}/{}", call.session, call.id)
}

/// Lists ids for an error message.
fn candidates<'a>(ids: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = ids.len().saturating_sub(MAX_CANDIDATES);
    let named: Vec<String> = ids
        .take(MAX_CANDIDATES)
        .map(|id| format!("`{}`", one_line(id)))
        .collect();
    match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Returns, for each session, the shortest unique beginning of its id.
pub(super) fn short_ids(archive: &Archive) -> anyhow::Result<HashMap<SessionId, String>> {
    let sessions: Vec<SessionId> = archive.sessions()?.into_iter().map(|one| one.id).collect();
    let ids: Vec<&str> = sessions.iter().map(SessionId::as_str).collect();
    let short = shorten(&ids);
    Ok(sessions.into_iter().zip(short).collect())
}

/// Returns the shortest unique beginning of each id, but at least `MIN_ID_LENGTH` characters.
fn shorten(ids: &[&str]) -> Vec<String> {
    let mut sorted: Vec<&str> = ids.to_vec();
    sorted.sort_unstable();
    let common_prefix = |id: &str, other: Option<&&str>| {
        let other = other.map_or("", |other| other);
        let pairs = id.chars().zip(other.chars());
        pairs.take_while(|(ours, theirs)| ours == theirs).count()
    };
    let short = |id: &&str| {
        let index = sorted.partition_point(|other| other < id);
        let before = index.checked_sub(1).and_then(|before| sorted.get(before));
        let common = common_prefix(id, before).max(common_prefix(id, sorted.get(index + 1)));
        id.chars().take(MIN_ID_LENGTH.max(common + 1)).collect()
    };
    ids.iter().map(short).collect()
}

/// Returns the filter options of the command line as a filter of the history.
pub(super) fn filter(args: &CallFilterArgs, session: Option<&SessionId>) -> CallFilter {
    let named = |kind: &Kind| Some(kind.as_str()) == args.kind.as_deref();
    CallFilter {
        session: session.cloned(),
        tool: args.tool.clone(),
        kind: Kind::ALL.into_iter().find(named),
        status: args.status.clone(),
        path: args.path.as_deref().map(absolute_path),
        text: args.text.clone(),
        from: args.since,
        until: args.until,
        limit: args.limit,
    }
}

/// Returns whether an option filters calls, rather than sessions by time or number.
pub(super) fn filters_calls(args: &CallFilterArgs) -> bool {
    let CallFilterArgs {
        tool,
        kind,
        status,
        path,
        text,
        since: _,
        until: _,
        limit: _,
    } = args;
    [tool, kind, status, text]
        .iter()
        .any(|option| option.is_some())
        || path.is_some()
}

/// Returns an absolute path, as calls record it, with symlinks resolved if it still exists.
fn absolute_path(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).ok();
    let found = path.canonicalize().ok().or_else(absolute);
    found.unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_as_short_as_they_can_be() {
        assert_eq!(
            shorten(&["3f2a91bcd0e4", "77aa00bb11cc", "3f2a91bcdfff", "a"]),
            ["3f2a91bcd0", "77aa00bb", "3f2a91bcdf", "a"]
        );
    }

    #[test]
    fn a_whole_id_is_meant_before_a_beginning() {
        let found = with_id(vec!["call-1", "call-12"], "call-1", |id| id);
        assert_eq!(found, ["call-1"]);
        let found = with_id(vec!["call-1", "call-12"], "call-", |id| id);
        assert_eq!(found, ["call-1", "call-12"]);
    }
}
