//! What one report says of a call, member by member, with what is wrong with it noted.
//! It must not know the call: what a report means is for others to say.

use serde_json::{Map, Value};
use toolcall::text::{clean_command, clean_line};
use toolcall::{Kind, Location};

use super::content::{self, Items};
use super::fields::{Fields, Place};
use super::members::{list, object, present, text};
use super::places;
use crate::finding::{Findings, Rule, quoted};

/// Generous, since some agents tell a command in the title and nowhere else.
const LONGEST_TITLE: usize = 4096;
const LONGEST_NAME: usize = 200;

/// What one report says of a call. What it does not mention is `None`.
#[derive(Debug, Default)]
pub(crate) struct Report<'a> {
    /// One clean line, never blank.
    pub(crate) title: Option<String>,
    /// The tool's name, on one clean line, never blank.
    pub(crate) name: Option<String>,
    /// The category.
    pub(crate) kind: Option<Kind>,
    /// Files to follow.
    pub(crate) locations: Option<Vec<Location>>,
    /// What the model handed to the tool.
    pub(crate) input: Option<&'a Value>,
    /// What the tool returned.
    pub(crate) output: Option<&'a Value>,
    /// Where the call stands.
    pub(crate) status: Option<Told<'a>>,
    /// What is shown.
    pub(crate) content: Option<Items>,
    /// How far it is, where one says so beside the other members.
    pub(super) progress: Option<&'a Map<String, Value>>,
    /// Everything else.
    pub(super) meta: Option<&'a Map<String, Value>>,
}

/// The status that a report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told<'a> {
    /// It does not run yet.
    Pending,
    /// It runs.
    InProgress,
    /// It did what it should.
    Completed,
    /// It could not.
    Failed,
    /// One that v1 does not have.
    Unknown(&'a str),
}

impl Told<'_> {
    /// Whether it is the last one.
    pub(crate) fn is_final(self) -> bool {
        match self {
            Told::Completed | Told::Failed => true,
            Told::Pending | Told::InProgress | Told::Unknown(_) => false,
        }
    }
}

impl<'a> Report<'a> {
    /// Reads what there is.
    pub(crate) fn read(fields: &Fields<'a>, findings: &mut Findings) -> Self {
        let map = fields.map;
        if fields.place == Place::Nested {
            findings.note(
                Rule::NestedToolCall,
                || "the call stands in `update.toolCall`; its members belong into `update`",
            );
        }
        Self {
            title: title(map, findings),
            name: name(map, findings),
            kind: kind(map, findings),
            locations: list(map, "locations", findings).map(|list| places::read(list, findings)),
            input: present(map, "rawInput"),
            output: present(map, "rawOutput"),
            status: status(map, findings),
            content: list(map, "content", findings).map(|list| content::read(list, findings)),
            progress: map.get("progress").and_then(Value::as_object),
            meta: object(map, "_meta", findings),
        }
    }

    /// Whether it says that the call is over.
    pub(super) fn is_final(&self) -> bool {
        self.status.is_some_and(Told::is_final)
    }
}

/// Foreign titles are shown like our own: on one line, with nothing hidden in it.
fn title(map: &Map<String, Value>, findings: &mut Findings) -> Option<String> {
    let title = clean_command(text(map, "title", findings)?, LONGEST_TITLE);
    let is_blank = title.trim().is_empty();
    if is_blank {
        findings.note(Rule::NoTitle, || "the title is blank");
    }
    (!is_blank).then_some(title)
}

fn name(map: &Map<String, Value>, findings: &mut Findings) -> Option<String> {
    let name = clean_line(text(map, "name", findings)?, LONGEST_NAME);
    (!name.trim().is_empty()).then_some(name)
}

fn kind(map: &Map<String, Value>, findings: &mut Findings) -> Option<Kind> {
    let name = text(map, "kind", findings)?;
    let known = Kind::ALL.into_iter().find(|kind| kind.as_str() == name);
    if known.is_none() {
        findings.note(Rule::UnknownKind, || {
            format!("v1 has no kind {}; it counts as `other`", quoted(name))
        });
    }
    Some(known.unwrap_or(Kind::Other))
}

fn status<'a>(map: &'a Map<String, Value>, findings: &mut Findings) -> Option<Told<'a>> {
    let told = match text(map, "status", findings)? {
        "pending" => Told::Pending,
        "in_progress" => Told::InProgress,
        "completed" => Told::Completed,
        "failed" => Told::Failed,
        unknown => Told::Unknown(unknown),
    };
    if let Told::Unknown(name) = told {
        findings.note(Rule::UnknownStatus, || {
            format!("v1 has no status {}", quoted(name))
        });
    }
    Some(told)
}
