//! Decodes the members of one report, with findings about them.
//! It must not know the call; `events.rs` turns the report into events.

use serde_json::{Map, Value};
use toolcall::Kind;
use toolcall::text::{clean_command, clean_line};

use super::call_members::{CallMembers, MembersLocation};
use super::content;
use super::locations;
use super::members::{list, object, present, text};
use crate::decode::{ReportedFields, ReportedStatus};
use crate::finding::{Findings, LintRule, quoted};

/// The longest title. It is generous, because some agents put the command only into the title.
const MAX_TITLE_LENGTH: usize = 4096;
const MAX_NAME_LENGTH: usize = 200;

/// Decodes the members that are present.
pub(super) fn read<'a>(fields: &CallMembers<'a>, findings: &mut Findings) -> ReportedFields<'a> {
    let map = fields.map;
    if fields.place == MembersLocation::Nested {
        findings.note(
            LintRule::NestedToolCall,
            || "the call stands in `update.toolCall`; its members belong into `update`",
        );
    }
    ReportedFields {
        title: title(map, findings),
        name: name(map, findings),
        kind: kind(map, findings),
        locations: list(map, "locations", findings).map(|list| locations::read(list, findings)),
        input: present(map, "rawInput"),
        output: present(map, "rawOutput"),
        status: status(map, findings),
        content: list(map, "content", findings).map(|list| content::read(list, findings)),
        progress: map.get("progress").and_then(Value::as_object),
        meta: object(map, "_meta", findings),
    }
}

/// Cleans a title like our own: one line, without hidden characters.
fn title(map: &Map<String, Value>, findings: &mut Findings) -> Option<String> {
    let title = clean_command(text(map, "title", findings)?, MAX_TITLE_LENGTH);
    let is_blank = title.trim().is_empty();
    if is_blank {
        findings.note(LintRule::NoTitle, || "the title is blank");
    }
    (!is_blank).then_some(title)
}

fn name(map: &Map<String, Value>, findings: &mut Findings) -> Option<String> {
    let name = clean_line(text(map, "name", findings)?, MAX_NAME_LENGTH);
    (!name.trim().is_empty()).then_some(name)
}

fn kind(map: &Map<String, Value>, findings: &mut Findings) -> Option<Kind> {
    let name = text(map, "kind", findings)?;
    let known = Kind::ALL.into_iter().find(|kind| kind.as_str() == name);
    if known.is_none() {
        findings.note(LintRule::UnknownKind, || {
            format!("v1 has no kind {}; it counts as `other`", quoted(name))
        });
    }
    Some(known.unwrap_or(Kind::Other))
}

fn status<'a>(map: &'a Map<String, Value>, findings: &mut Findings) -> Option<ReportedStatus<'a>> {
    let reported = match text(map, "status", findings)? {
        "pending" => ReportedStatus::Pending,
        "in_progress" => ReportedStatus::InProgress,
        "completed" => ReportedStatus::Completed,
        "failed" => ReportedStatus::Failed,
        unknown => ReportedStatus::Unknown(unknown),
    };
    if let ReportedStatus::Unknown(name) = reported {
        findings.note(LintRule::UnknownStatus, || {
            format!("v1 has no status {}", quoted(name))
        });
    }
    Some(reported)
}
