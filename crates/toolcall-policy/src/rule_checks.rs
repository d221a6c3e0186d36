//! Checks a rule as a whole: missing keys, keys that do not combine, and rules that can never match.
//! It sees one rule at a time and says what to write instead.

use crate::error::RuleError;
use crate::protected::{PathAccess, word_protection};
use crate::reach::ReachPattern;
use crate::rule::RuleBody;
use crate::rule_effect::RuleEffect;
use crate::tool_name::ToolName;

/// Checks what no single key shows: missing keys, and keys that do not combine.
pub(crate) fn check(effect: RuleEffect, body: &RuleBody) -> Result<(), RuleError> {
    if !body.names_touches() && body.tool.is_none() {
        return Err(RuleError::new(
            "a rule about nothing can never match",
            "add `run`, `read`, `write`, `delete`, `reach` or `tool`",
        ));
    }
    if body.directory.is_some() && body.exactly.is_empty() {
        return Err(RuleError::new(
            "`in` without `exactly`",
            "add the command with `exactly`, or take `in` out",
        ));
    }
    let has_definition = body.definition.is_some();
    let has_mcp = body.reaches.iter().any(ReachPattern::is_mcp);
    if has_definition && body.tool.is_none() && !has_mcp {
        return Err(RuleError::new(
            "`definition` without `tool`",
            "add the tool, or take `definition` out",
        ));
    }
    match effect {
        RuleEffect::Allow => check_allow(body, has_mcp),
        RuleEffect::Ask | RuleEffect::Deny => Ok(()),
    }
}

/// Checks an allow rule. One about a server's tool needs its definition, so that it ends when that changes.
fn check_allow(body: &RuleBody, has_mcp: bool) -> Result<(), RuleError> {
    let advice =
        "add `definition = \"…\"`, which the question about the tool shows, or say what it may do";
    if body.tool.as_ref().is_some_and(ToolName::is_many) {
        return Err(RuleError::new("`tool` allows every tool", "name one tool"));
    }
    if body.reaches.iter().any(ReachPattern::is_mode) {
        return Err(RuleError::new(
            "`reach` allows a mode",
            "take it out; a stricter mode needs no rule, and a looser one is always asked about",
        ));
    }
    if has_mcp && body.definition.is_none() {
        return Err(RuleError::new(
            "a server's tool is allowed whatever its definition becomes",
            advice,
        ));
    }
    check_unprotected(body)?;
    if body.tool.is_some() && !body.names_touches() && body.definition.is_none() {
        Err(RuleError::new("a tool is allowed whatever it does", advice))
    } else {
        Ok(())
    }
}

/// Rejects allow rules about protected paths, which would have no effect.
fn check_unprotected(body: &RuleBody) -> Result<(), RuleError> {
    let reads = body.reads.iter().map(|pattern| (pattern, PathAccess::Read));
    let changes = body.writes.iter().chain(&body.deletes);
    let all = reads.chain(changes.map(|pattern| (pattern, PathAccess::Change)));
    for (pattern, access) in all {
        if let Some(protection) = word_protection(&pattern.source, access) {
            let (source, name) = (&pattern.source, protection.name);
            let problem = format!("`{source}` can never be allowed: `{name}` is protected");
            return Err(RuleError::new(
                problem,
                "take it out; it stays as it is, whatever rules say",
            ));
        }
    }
    Ok(())
}
