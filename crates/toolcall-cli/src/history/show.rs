//! `toolcall history show`: shows one session as a timeline.
//! It collects the data; `view/timeline.rs` draws it.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::text::duration;
use toolcall::{Effect, Timestamp};
use toolcall_history::{
    Archive, CallFilter, CallRow, HistoryError, SessionEvent, SessionFacts, SessionRow, Speaker,
};

use super::find::{self, filter};
use super::list::{session_json, summary};
use super::open;
use crate::args::HistoryShowArgs;
use crate::screen;
use crate::time::{local, millis};
use crate::view::{BOLD, DIM, Timeline, fit, one_line, paint, width};

/// Shows a session.
pub(super) fn run(args: &HistoryShowArgs) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let session = find::session(&archive, &args.session)?;
    let mut calls = archive.calls(&CallFilter {
        limit: Some(args.filter.limit.unwrap_or(usize::MAX)),
        ..filter(&args.filter, Some(&session.id))
    })?;
    calls.reverse();
    let events = archive.session_events(&session.id)?;
    let lines = if args.json {
        vec![format!("{:#}", as_json(&session, &calls, &events))]
    } else {
        let mut lines = head(&session, &calls, &events);
        lines.extend(body(&session, &calls, &events));
        lines
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the timeline of the latest session, without a heading.
pub(crate) fn timeline(archive: &Archive) -> Result<Vec<String>, HistoryError> {
    let Some(session) = archive.sessions()?.into_iter().next() else {
        return Ok(Vec::new());
    };
    let mut calls = archive.calls(&CallFilter {
        session: Some(session.id.clone()),
        limit: Some(usize::MAX),
        ..CallFilter::default()
    })?;
    calls.reverse();
    Ok(body(&session, &calls, &[]))
}

type Events = [(Timestamp, SessionEvent)];

fn head(session: &SessionRow, calls: &[CallRow], events: &Events) -> Vec<String> {
    let agent = match facts(events) {
        Some(facts) => format!("{} {}", session.agent, facts.agent_version),
        None => session.agent.clone(),
    };
    let origin = format!("{} in {}", agent.trim_end(), session.cwd);
    let id = one_line(session.id.as_str());
    let room = width().saturating_sub(id.chars().count() + 10);
    let lasted = duration(session.latest.since(session.began));
    let summary = format!("{}, for {lasted}; {}", local(session.began), summary(calls));
    vec![
        format!(
            "session {}  {}",
            paint(BOLD, &id),
            fit(&origin, room).trim_end()
        ),
        paint(DIM, fit(&summary, width()).trim_end()),
        String::new(),
    ]
}

fn facts(events: &Events) -> Option<&SessionFacts> {
    events.iter().find_map(|(_, event)| match event {
        SessionEvent::Opened(facts) => Some(facts),
        SessionEvent::TurnBegan
        | SessionEvent::TurnEnded { .. }
        | SessionEvent::Said { .. }
        | SessionEvent::Planned(_) => None,
    })
}

/// Returns calls and messages in order of time.
fn body(session: &SessionRow, calls: &[CallRow], events: &Events) -> Vec<String> {
    let timeline = Timeline::new(calls, session.latest, width());
    let mut messages = events.iter().filter_map(message_line).peekable();
    let mut lines = Vec::new();
    if !calls.is_empty() {
        lines.push(timeline.head());
    }
    for call in calls {
        while let Some((_, text)) = messages.next_if(|(at, _)| *at <= call.announced) {
            lines.push(text);
        }
        lines.push(timeline.line(call));
    }
    lines.extend(messages.map(|(_, text)| text));
    if !calls.is_empty() {
        lines.push(paint(DIM, fit(Timeline::LEGEND, width()).trim_end()));
    }
    lines
}

fn message_line((at, event): &(Timestamp, SessionEvent)) -> Option<(Timestamp, String)> {
    let (by, text) = match event {
        SessionEvent::Said { by, text } => (by, text),
        SessionEvent::Opened(_)
        | SessionEvent::TurnBegan
        | SessionEvent::TurnEnded { .. }
        | SessionEvent::Planned(_) => return None,
    };
    let line = format!("  {}: {text}", speaker_label(*by));
    Some((*at, paint(DIM, fit(&line, width()).trim_end())))
}

fn speaker_label(by: Speaker) -> &'static str {
    match by {
        Speaker::Person => "user",
        Speaker::Agent => "agent",
        Speaker::Thought => "thought",
    }
}

/// The speaker in JSON, whose words must not change.
fn speaker_json(by: Speaker) -> &'static str {
    match by {
        Speaker::Person => "person",
        Speaker::Agent => "agent",
        Speaker::Thought => "thought",
    }
}

fn as_json(session: &SessionRow, calls: &[CallRow], events: &Events) -> Value {
    let mut object = session_json(session, calls);
    object["calls"] = calls.iter().map(call_json).collect();
    object["events"] = events.iter().map(event_json).collect();
    object
}

fn event_json((at, event): &(Timestamp, SessionEvent)) -> Value {
    let mut object = match event {
        SessionEvent::Opened(facts) => json!({
            "agent": &*facts.agent,
            "agent_version": &*facts.agent_version,
            "client": &*facts.client,
            "client_version": &*facts.client_version,
            "protocol": &*facts.protocol,
            "cwd": facts.cwd.to_string_lossy(),
        }),
        SessionEvent::TurnBegan => json!({}),
        SessionEvent::TurnEnded { stop } => json!({"stop": &**stop}),
        SessionEvent::Said { by, text } => json!({"by": speaker_json(*by), "text": &**text}),
        SessionEvent::Planned(plan) => {
            let entries = plan.entries.iter().map(|entry| &*entry.content);
            json!({"entries": entries.collect::<Vec<&str>>()})
        }
    };
    object["at"] = at.to_string().into();
    object["event"] = event.name().replace(' ', "_").into();
    object
}

/// Returns a call as JSON, as in lists.
pub(crate) fn call_json(call: &CallRow) -> Value {
    let effect = call.effect.map(|effect| match effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    });
    json!({
        "session": call.session.as_str(),
        "call": call.id.as_str(),
        "parent": call.parent.as_ref().map(|parent| parent.as_str()),
        "tool": call.tool,
        "kind": call.kind.as_str(),
        "title": call.title,
        "status": call.status,
        "reason": call.reason,
        "effect": effect,
        "by": call.judge,
        "rule": call.rule,
        "announced": call.announced.to_string(),
        "started": call.started.map(|at| at.to_string()),
        "ended": call.ended.map(|at| at.to_string()),
        "queued_ms": millis(call.queued),
        "waited_ms": millis(call.waited),
        "ran_ms": millis(call.ran),
        "bytes": call.bytes,
    })
}
