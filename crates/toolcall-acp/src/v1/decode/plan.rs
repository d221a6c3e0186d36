//! Decodes a plan.
//! It must not refuse a whole plan for one bad entry.

use serde_json::{Map, Value};
use toolcall::{Plan, PlanEntry, PlanStatus, Priority};

use super::members::present;
use crate::decode::DecodedPlan;
use crate::finding::{Finding, Findings, LintRule, quoted, type_of};

/// Decodes a `plan`, which replaces the session's whole plan.
pub fn decode_plan(update: &Value) -> Result<DecodedPlan, Finding> {
    let refused = |rule, message: String| Err(Finding::new(rule, None, message));
    match update.get("sessionUpdate") {
        Some(Value::String(name)) if name == "plan" => {}
        Some(Value::String(other)) => {
            let message = format!("{} is no plan", quoted(other));
            return refused(LintRule::UnknownUpdate, message);
        }
        Some(_) | None => return refused(LintRule::UnknownUpdate, "this is no plan".into()),
    }
    let entries = match update.get("entries") {
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            let message = format!("`entries` is {}, not a list", type_of(other));
            return refused(LintRule::BadPlan, message);
        }
        None => return refused(LintRule::BadPlan, "the plan has no `entries`".into()),
    };
    let mut findings = Findings::default();
    let entries = entries
        .iter()
        .filter_map(|value| entry(value, &mut findings));
    let plan = Plan {
        entries: entries.collect(),
    };
    Ok(DecodedPlan {
        plan,
        findings: findings.into_vec(),
    })
}

fn entry(value: &Value, findings: &mut Findings) -> Option<PlanEntry> {
    let map = value.as_object();
    let content = map.and_then(|map| map.get("content")?.as_str());
    let (Some(map), Some(content)) = (map, content) else {
        findings.note(
            LintRule::BadPlan,
            || "an entry without its text was left out",
        );
        return None;
    };
    Some(PlanEntry {
        content: content.to_owned(),
        status: one_of(map, "status", &STATUSES, findings),
        priority: one_of(map, "priority", &PRIORITIES, findings),
    })
}

const STATUSES: [(&str, PlanStatus); 3] = [
    ("pending", PlanStatus::Pending),
    ("in_progress", PlanStatus::InProgress),
    ("completed", PlanStatus::Completed),
];

const PRIORITIES: [(&str, Priority); 3] = [
    ("high", Priority::High),
    ("medium", Priority::Medium),
    ("low", Priority::Low),
];

/// Returns the value of a member, or its default with a finding.
fn one_of<T: Copy + Default>(
    map: &Map<String, Value>,
    key: &str,
    known: &[(&str, T)],
    findings: &mut Findings,
) -> T {
    let reported = present(map, key);
    let name = reported.and_then(Value::as_str);
    let found = known.iter().find(|(known, _)| Some(*known) == name);
    if found.is_none() {
        findings.note(LintRule::BadPlan, || match (name, reported) {
            (Some(name), _) => format!("a plan has no {key} {}", quoted(name)),
            (None, Some(other)) => format!("a {key} is {}, not a string", type_of(other)),
            (None, None) => format!("an entry has no `{key}`"),
        });
    }
    found.map_or_else(T::default, |(_, value)| *value)
}
