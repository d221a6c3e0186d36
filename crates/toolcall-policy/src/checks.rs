//! What is wrong with a rule as a whole: keys that are missing, mean nothing together, or can never match.
//! It sees one rule at a time and says what to write instead.

use crate::error::Fault;
use crate::names::ToolName;
use crate::protected::{Act, word_protection};
use crate::reach::ReachPattern;
use crate::rule::Body;
use crate::rule_effect::RuleEffect;

/// What no single key shows: keys that are missing, or that mean nothing together.
pub(crate) fn check(stance: RuleEffect, body: &Body) -> Result<(), Fault> {
    if !body.names_touches() && body.tool.is_none() {
        return Err(Fault::new(
            "a rule about nothing can never match",
            "add `run`, `read`, `write`, `delete`, `reach` or `tool`",
        ));
    }
    if body.folder.is_some() && body.exactly.is_empty() {
        return Err(Fault::new(
            "`in` without `exactly`",
            "add the command with `exactly`, or take `in` out",
        ));
    }
    let has_definition = body.definition.is_some();
    let has_mcp = body.reaches.iter().any(ReachPattern::is_mcp);
    if has_definition && body.tool.is_none() && !has_mcp {
        return Err(Fault::new(
            "`definition` without `tool`",
            "add the tool, or take `definition` out",
        ));
    }
    match stance {
        RuleEffect::Allow => check_allow(body, has_mcp),
        RuleEffect::Ask | RuleEffect::Deny => Ok(()),
    }
}

/// A grant for a tool that somebody else defines ends when its definition changes.
fn check_allow(body: &Body, has_mcp: bool) -> Result<(), Fault> {
    let advice =
        "add `definition = \"…\"`, which the question about the tool shows, or say what it may do";
    if body.tool.as_ref().is_some_and(ToolName::is_many) {
        return Err(Fault::new("`tool` allows every tool", "name one tool"));
    }
    if body.reaches.iter().any(ReachPattern::is_mode) {
        return Err(Fault::new(
            "`reach` allows a mode",
            "take it out; a stricter mode needs no rule, and a looser one is always asked about",
        ));
    }
    if has_mcp && body.definition.is_none() {
        return Err(Fault::new(
            "a server's tool is allowed whatever its definition becomes",
            advice,
        ));
    }
    check_unprotected(body)?;
    match body.tool.is_some() && !body.names_touches() && body.definition.is_none() {
        true => Err(Fault::new("a tool is allowed whatever it does", advice)),
        false => Ok(()),
    }
}

/// What is protected stays so: a rule that allows it would never be heard.
fn check_unprotected(body: &Body) -> Result<(), Fault> {
    let reads = body.reads.iter().map(|pattern| (pattern, Act::Read));
    let changes = body.writes.iter().chain(&body.deletes);
    let all = reads.chain(changes.map(|pattern| (pattern, Act::Change)));
    for (pattern, act) in all {
        if let Some(protection) = word_protection(&pattern.source, act) {
            let (source, name) = (&pattern.source, protection.name);
            let problem = format!("`{source}` can never be allowed: `{name}` is protected");
            return Err(Fault::new(
                problem,
                "take it out; it stays as it is, whatever rules say",
            ));
        }
    }
    Ok(())
}
