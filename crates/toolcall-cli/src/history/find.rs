//! Which session or call is meant by what a person typed.
//! It finds; where more than one could be meant, it says so and chooses none.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use toolcall::{CallId, Kind, SessionId};
use toolcall_history::{Archive, CallRow, Filter, SessionRow};

use crate::args::{Named, Wanted};
use crate::view::one_line;

/// What stands for the latest.
const LAST: &str = "last";
/// How many are named where more than one could be meant.
const MOST_NAMED: usize = 5;
/// The fewest characters of an id that are shown.
const LEAST_SHOWN: usize = 8;

/// The session of this name: its id, a beginning that no other has, or `last`.
pub(super) fn session(archive: &Archive, name: &str) -> anyhow::Result<SessionRow> {
    let sessions = archive.sessions()?;
    let mut found: Vec<SessionRow> = match name {
        LAST => sessions.into_iter().take(1).collect(),
        _ => named(sessions, name, |session| session.id.as_str()),
    };
    match (found.len(), found.pop()) {
        (1, Some(one)) => Ok(one),
        (_, None) => bail!("there is no session `{name}`; `toolcall history` lists them"),
        (many, Some(last)) => {
            found.push(last);
            let ids = listed(found.iter().map(|session| session.id.as_str()));
            bail!("`{name}` is the beginning of {many} sessions: {ids}; write more of it")
        }
    }
}

/// The call of this name: its id or a beginning of it, with its session where that is needed, a
/// session with a single call, or `last`.
pub(super) fn call(archive: &Archive, named: &Named) -> anyhow::Result<CallRow> {
    let (of, name) = match (&named.session, named.call.rsplit_once('/')) {
        (Some(of), _) => (Some(&**of), &*named.call),
        (None, Some((of, name))) => (Some(of), name),
        (None, None) => (None, &*named.call),
    };
    let found = match of {
        Some(of) => {
            let session = session(archive, of)?.id;
            calls_named(archive, Some(&session), name)?
        }
        None => anywhere(archive, name)?,
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
            let ids = listed(full.iter().map(String::as_str));
            bail!("{many} calls are named so: {ids}; name the session, too, or say `last`")
        }
    }
}

/// The calls of this name, whosever they are.
fn anywhere(archive: &Archive, name: &str) -> anyhow::Result<Vec<CallRow>> {
    let found = calls_named(archive, None, name)?;
    if !found.is_empty() {
        return Ok(found);
    }
    // A session with one call is as good a name for it.
    let sessions = named(archive.sessions()?, name, |session| session.id.as_str());
    match &*sessions {
        [session] => Ok(archive.calls(&every(Some(&session.id)))?),
        [] | [_, ..] => Ok(Vec::new()),
    }
}

/// The calls of this name, the latest first.
fn calls_named(
    archive: &Archive,
    session: Option<&SessionId>,
    name: &str,
) -> anyhow::Result<Vec<CallRow>> {
    if name == LAST {
        let latest = Filter {
            limit: Some(1),
            ..every(session)
        };
        return Ok(archive.calls(&latest)?);
    }
    // Looking for a whole id needs no walk through every call.
    let id = CallId::new(name);
    let of = archive.sessions_of(&id)?;
    let is_wanted = |of: &&SessionId| session.is_none_or(|session| session == *of);
    let exact: Result<Vec<_>, _> = of
        .iter()
        .rev()
        .filter(is_wanted)
        .map(|of| archive.call(of, &id).map(|told| told.line))
        .collect();
    match exact? {
        none if none.is_empty() => {
            let calls = archive.calls(&every(session))?;
            Ok(named(calls, name, |call| call.id.as_str()))
        }
        exact => Ok(exact),
    }
}

fn every(session: Option<&SessionId>) -> Filter {
    Filter {
        session: session.cloned(),
        limit: Some(usize::MAX),
        ..Filter::default()
    }
}

/// Those with this id, or with an id that begins so.
fn named<T>(all: Vec<T>, name: &str, id: impl Fn(&T) -> &str) -> Vec<T> {
    let (exact, other): (Vec<T>, Vec<T>) = all.into_iter().partition(|one| id(one) == name);
    match exact.is_empty() {
        false => exact,
        true => {
            let begins = other.into_iter().filter(|one| id(one).starts_with(name));
            begins.collect()
        }
    }
}

/// A call with its session, as it can be typed.
pub(super) fn full_name(call: &CallRow) -> String {
    format!("{}/{}", call.session, call.id)
}

fn listed<'a>(ids: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = ids.len().saturating_sub(MOST_NAMED);
    let named: Vec<String> = ids
        .take(MOST_NAMED)
        .map(|id| format!("`{}`", one_line(id)))
        .collect();
    match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// For each session the shortest beginning of its id that no other has.
pub(super) fn short_ids(archive: &Archive) -> anyhow::Result<HashMap<SessionId, String>> {
    let sessions: Vec<SessionId> = archive.sessions()?.into_iter().map(|one| one.id).collect();
    let ids: Vec<&str> = sessions.iter().map(SessionId::as_str).collect();
    let short = shortest(&ids);
    Ok(sessions.into_iter().zip(short).collect())
}

/// For each id the shortest beginning that no other has, though never a very short one.
fn shortest(ids: &[&str]) -> Vec<String> {
    let mut sorted: Vec<&str> = ids.to_vec();
    sorted.sort_unstable();
    let alike = |id: &str, other: Option<&&str>| {
        let other = other.map_or("", |other| other);
        let pairs = id.chars().zip(other.chars());
        pairs.take_while(|(ours, theirs)| ours == theirs).count()
    };
    let short = |id: &&str| {
        let place = sorted.partition_point(|other| other < id);
        let before = place.checked_sub(1).and_then(|before| sorted.get(before));
        let most = alike(id, before).max(alike(id, sorted.get(place + 1)));
        id.chars().take(LEAST_SHOWN.max(most + 1)).collect()
    };
    ids.iter().map(short).collect()
}

/// What the command line wants, as the history takes it.
pub(super) fn filter(wanted: &Wanted, session: Option<&SessionId>) -> Filter {
    let named = |kind: &Kind| Some(kind.as_str()) == wanted.kind.as_deref();
    Filter {
        session: session.cloned(),
        tool: wanted.tool.clone(),
        kind: Kind::ALL.into_iter().find(named),
        status: wanted.status.clone(),
        path: wanted.path.as_deref().map(whole),
        text: wanted.text.clone(),
        from: wanted.since,
        until: wanted.until,
        limit: wanted.limit,
    }
}

/// Whether anything is wanted of single calls.
pub(super) fn is_about_calls(wanted: &Wanted) -> bool {
    let Wanted {
        tool,
        kind,
        status,
        path,
        text,
        since: _,
        until: _,
        limit: _,
    } = wanted;
    [tool, kind, status, text].iter().any(|said| said.is_some()) || path.is_some()
}

/// A path as calls name it: whole, and with every link followed where it is still there.
fn whole(path: &Path) -> PathBuf {
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
            shortest(&["3f2a91bcd0e4", "77aa00bb11cc", "3f2a91bcdfff", "a"]),
            ["3f2a91bcd0", "77aa00bb", "3f2a91bcdf", "a"]
        );
    }

    #[test]
    fn a_whole_id_is_meant_before_a_beginning() {
        let found = named(vec!["call-1", "call-12"], "call-1", |id| id);
        assert_eq!(found, ["call-1"]);
        let found = named(vec!["call-1", "call-12"], "call-", |id| id);
        assert_eq!(found, ["call-1", "call-12"]);
    }
}
