//! Decodes the reports of an agent in v1 into events: leniently, and from raw JSON.
//! It must not use the schema's types, which drop unknown fields, nor return an event that the call refuses.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcall::{
    Announced, CallId, Input, Kind, Outline, Output, SessionId, Sketch, Timestamp, ToolCall, title,
};

use crate::decode::{Announcement, Decoded, ReportedFields};
use crate::finding::{Finding, Findings, LintRule};
use crate::meta;

mod call_members;
mod change;
mod content;
mod ending;
mod events;
mod locations;
mod members;
mod message;
mod metadata;
mod output;
mod plan;
mod report;
#[cfg(test)]
mod tests;

pub(crate) use message::message;
pub use plan::decode_plan;

use call_members::CallMembers;

/// Decodes the first report of a call: a `tool_call`, a `tool_call_update`, or the `toolCall` of a
/// permission request, which has no `sessionUpdate`.
pub fn announce(update: &Value) -> Result<Announcement, Finding> {
    let fields = CallMembers::of(update)?;
    let id = fields.id()?;
    let mut findings = Findings::about(&id);
    let report = report::read(&fields, &mut findings);
    if report.title.is_none() && !findings.has(LintRule::NoTitle) {
        findings.note(
            LintRule::NoTitle,
            || "the first report of the call has no title",
        );
    }
    let announced = Arc::new(announced(&report, &id, &mut findings));
    let call = just_announced(&id, &announced);
    let decoded = events::read(&call, report, &mut findings);
    drop(call);
    Ok(Announcement {
        id,
        announced: Arc::unwrap_or_clone(announced),
        then: decoded.events,
        printed: decoded.printed,
        findings: findings.into_vec(),
    })
}

/// Decodes a `tool_call_update`, or a repeated `tool_call`, of a known call.
///
/// A call that has ended never changes again: the result is one finding and no event.
pub fn decode(call: &ToolCall, update: &Value) -> Decoded {
    let mut findings = Findings::about(call.id());
    if let Some(ending) = call.ending() {
        findings.note(LintRule::Late, || {
            let how = ending.name();
            format!("a report came after the call had ended ({how}); it changed nothing")
        });
        return only(findings.into_vec());
    }
    let fields = match CallMembers::of(update) {
        Ok(fields) => fields,
        Err(mut finding) => {
            finding.call = Some(call.id().clone());
            return only(vec![finding]);
        }
    };
    let report = report::read(&fields, &mut findings);
    let decoded = events::read(call, report, &mut findings);
    Decoded {
        events: decoded.events,
        printed: decoded.printed,
        findings: findings.into_vec(),
    }
}

fn only(findings: Vec<Finding>) -> Decoded {
    Decoded {
        findings,
        ..Decoded::default()
    }
}

fn announced(report: &ReportedFields<'_>, id: &CallId, findings: &mut Findings) -> Announced {
    let kind = report.kind.unwrap_or_default();
    let sketch = Sketch {
        title: (report.title.clone()).unwrap_or_else(|| inferred_title(report, id, kind)),
        kind,
        locations: report.locations.clone().unwrap_or_default(),
    };
    Announced {
        // A name that was not reported is not made up.
        tool: report.name.as_deref().unwrap_or_default().into(),
        model_id: None,
        parent: parent(report.meta, findings),
        input: report.input.map(input),
        outline: Outline::from(sketch),
    }
}

fn parent(meta: Option<&Map<String, Value>>, findings: &mut Findings) -> Option<CallId> {
    members::text(meta?, meta::PARENT, findings).map(CallId::new)
}

fn inferred_title(report: &ReportedFields<'_>, id: &CallId, kind: Kind) -> String {
    title::infer(
        report.name.as_deref().unwrap_or(id.as_str()),
        kind,
        report.input,
    )
}

/// Returns the call right after its announcement.
fn just_announced(id: &CallId, announced: &Arc<Announced>) -> ToolCall {
    ToolCall::announce(
        id.clone(),
        SessionId::new(""),
        announced.clone(),
        Arc::new(Output::default()),
        Timestamp::default(),
    )
}

/// Converts a raw input: text if the model did not write JSON, otherwise JSON.
fn input(raw: &Value) -> Input {
    match raw {
        Value::String(text) => Input::Text(text.as_str().into()),
        json => Input::from(json.clone()),
    }
}
