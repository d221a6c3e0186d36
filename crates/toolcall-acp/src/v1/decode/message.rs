//! Decodes whole messages of a v1 stream, as far as they concern calls.
//! It must not check their order; the linter does.

use serde_json::Value;

use super::call_members::CallMembers;
use super::decode_plan;
use super::report;
use crate::decode::{Body, CallReport, Direction, Message};
use crate::finding::{Finding, Findings, LintRule, quoted};

/// Decodes a message.
pub(crate) fn message(direction: Direction, message: &Value) -> Message<'_> {
    let params = &message["params"];
    let session = params["sessionId"].as_str().unwrap_or_default();
    let body = match (direction, message["method"].as_str()) {
        (Direction::FromAgent, Some("session/update")) => update(&params["update"]),
        (Direction::FromAgent, Some("session/request_permission")) => Body::Question {
            id: id(message),
            report: call_report(&params["toolCall"]),
            allowing: allowing(&params["options"]),
        },
        (Direction::FromAgent, Some("$/cancel_request")) => Body::Withdrawn {
            id: params["requestId"].to_string(),
        },
        (Direction::FromClient, Some("session/prompt")) => Body::Prompt { id: id(message) },
        (Direction::FromClient, Some("session/load")) => Body::Load,
        (Direction::FromAgent | Direction::FromClient, Some(_)) => Body::Other,
        (Direction::FromAgent | Direction::FromClient, None) => Body::Response {
            id: id(message),
            chosen: chosen(&message["result"]),
        },
    };
    Message { session, body }
}

fn id(message: &Value) -> String {
    message["id"].to_string()
}

fn update(update: &Value) -> Body<'_> {
    match update["sessionUpdate"].as_str() {
        Some("tool_call" | "tool_call_update") => Body::Report(call_report(update)),
        Some("plan") => Body::Update(match decode_plan(update) {
            Ok(decoded) => decoded.findings,
            Err(finding) => vec![finding],
        }),
        Some(name) if is_known(name) => Body::Update(Vec::new()),
        Some(name) => unknown(format!("v1 has no update {}", quoted(name))),
        None => unknown("the update has no `sessionUpdate`".to_owned()),
    }
}

fn unknown(message: String) -> Body<'static> {
    Body::Update(vec![Finding::new(LintRule::UnknownUpdate, None, message)])
}

fn call_report(update: &Value) -> Result<CallReport<'_>, Finding> {
    let fields = CallMembers::of(update)?;
    let call = fields.id()?;
    let mut findings = Findings::about(&call);
    let report = report::read(&fields, &mut findings);
    Ok(CallReport {
        call,
        update: fields.update,
        report,
        findings,
    })
}

/// Returns the ids of the options that allow.
fn allowing(options: &Value) -> Vec<String> {
    let options = options.as_array().into_iter().flatten();
    let allows = |option: &&Value| {
        let kind = option["kind"].as_str();
        matches!(kind, Some("allow_once" | "allow_always"))
    };
    let id = |option: &Value| option["optionId"].as_str().map(str::to_owned);
    options.filter(allows).filter_map(id).collect()
}

/// Returns the option that an answer chooses. A cancel, an error and anything unknown choose none.
fn chosen(result: &Value) -> Option<&str> {
    let outcome = &result["outcome"];
    outcome["optionId"]
        .as_str()
        .filter(|_| outcome["outcome"] == "selected")
}

/// Whether v1, or a draft of it, has an update of this name that is not about tool calls.
fn is_known(name: &str) -> bool {
    let chunks = [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
    ];
    let states = [
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
    ];
    let facts = [
        "session_info_update",
        "usage_update",
        "notice",
        "session_message",
    ];
    let compactions = ["compaction_update", "compaction_summary_chunk"];
    let drafts = ["plan_update", "plan_removed", "subagent_update"];
    let lists: [&[&str]; 5] = [&chunks, &states, &facts, &compactions, &drafts];
    name.starts_with('_') || lists.iter().any(|list| list.contains(&name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_option_that_allows_is_a_yes() {
        let allowing = allowing(&json!([
            {"optionId": "a", "kind": "allow_once"},
            {"optionId": "b", "kind": "allow_always"},
            {"optionId": "c", "kind": "reject_once"},
            {"optionId": "d", "kind": "allow_it_all"},
            {"kind": "allow_once"},
        ]));
        assert_eq!(allowing, ["a", "b"]);
        let chosen = |outcome: Value| chosen(&json!({ "outcome": outcome })).map(str::to_owned);
        for id in ["a", ""] {
            let selected = json!({"outcome": "selected", "optionId": id});
            assert_eq!(chosen(selected).as_deref(), Some(id));
        }
        assert_eq!(chosen(json!({"outcome": "cancelled"})), None);
        assert_eq!(chosen(json!({"outcome": "chosen", "optionId": "a"})), None);
        assert_eq!(chosen(Value::Null), None);
    }
}
