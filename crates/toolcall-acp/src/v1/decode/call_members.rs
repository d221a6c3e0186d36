//! Finds the members of a reported call: in the update, or by mistake in a `toolCall` within it.
//! It reads no member but the id.

use serde_json::{Map, Value};
use toolcall::CallId;

use super::members::present;
use crate::decode::UpdateName;
use crate::finding::{Finding, LintRule, quoted, type_of};

/// The members of one reported call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallMembers<'a> {
    /// The members.
    pub(crate) map: &'a Map<String, Value>,
    /// The name of the update; `None` for the `toolCall` of a permission request.
    pub(crate) update: Option<UpdateName>,
    /// Where they are.
    pub(super) place: MembersLocation,
}

/// Where the members of a reported call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MembersLocation {
    /// In the update, where they belong.
    Update,
    /// In a nested object `toolCall`.
    Nested,
}

impl<'a> CallMembers<'a> {
    /// Finds the members, or returns why this is not a report of a call.
    pub(crate) fn of(update: &'a Value) -> Result<Self, Finding> {
        let Value::Object(outer) = update else {
            let message = format!("the update is {}, not an object", type_of(update));
            return Err(Finding::new(LintRule::BadField, None, message));
        };
        let update = named(outer)?;
        let nested = outer.get("toolCall").and_then(Value::as_object);
        Ok(Self {
            map: nested.unwrap_or(outer),
            update,
            place: nested.map_or(MembersLocation::Update, |_| MembersLocation::Nested),
        })
    }

    /// Returns the call's id.
    pub(crate) fn id(&self) -> Result<CallId, Finding> {
        let message = match present(self.map, "toolCallId") {
            Some(Value::String(id)) => return Ok(CallId::new(id.as_str())),
            Some(other) => format!("`toolCallId` is {}, not a string", type_of(other)),
            None => "the report has no `toolCallId`".to_owned(),
        };
        Err(Finding::new(LintRule::NoToolCallId, None, message))
    }
}

fn named(outer: &Map<String, Value>) -> Result<Option<UpdateName>, Finding> {
    let message = match present(outer, "sessionUpdate") {
        None => return Ok(None),
        Some(Value::String(name)) => match name.as_str() {
            "tool_call" => return Ok(Some(UpdateName::ToolCall)),
            "tool_call_update" => return Ok(Some(UpdateName::ToolCallUpdate)),
            other => format!("{} is no update of a tool call", quoted(other)),
        },
        Some(other) => format!("`sessionUpdate` is {}, not a string", type_of(other)),
    };
    Err(Finding::new(LintRule::UnknownUpdate, None, message))
}
