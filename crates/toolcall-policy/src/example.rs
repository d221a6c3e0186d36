//! Tries the examples of rules (`matches`, `refuses`) when a policy is parsed.
//! It uses the code that judges calls, in a fictitious root.

use std::path::{Path, PathBuf};

use toolcall::{Origin, Part, Reading, SessionContext, SessionId, ToolIdentity};
use toolcall_shell::{Words, read, unwrapped};

use crate::paths::{PathSet, Pattern};
use crate::programs::first_hazard;
use crate::reach::ReachTarget;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;

const ROOT: &str = "/root-of-examples";

/// Whether a rule matches an example by any of its keys.
pub(crate) fn matches(rule: &PolicyRule, example: &str, home: Option<&Path>) -> bool {
    runs(rule, example)
        || rule.body.exactly.iter().any(|text| text == example)
        || paths(rule, example, home)
        || reaches(rule, example)
        || tools(rule, example)
}

fn reaches(rule: &PolicyRule, example: &str) -> bool {
    let target = ReachTarget::parse(example);
    let mut reaches = rule.body.reaches.iter();
    reaches.any(|reach| reach.covers(&target, rule.effect))
}

fn runs(rule: &PolicyRule, example: &str) -> bool {
    match rule.effect {
        RuleEffect::Allow => match read(example, Path::new(ROOT)) {
            Reading::Understood(parts) => parts.iter().all(|part| allows(rule, part)),
            Reading::Unclear(_) => false,
        },
        RuleEffect::Ask | RuleEffect::Deny => {
            let words = Words::of(example);
            let holds = |wanted: &Vec<String>| {
                let wanted: Vec<_> = wanted.iter().map(String::as_str).collect();
                words.contains(&wanted)
            };
            rule.body.runs_anything || rule.body.runs.iter().any(holds)
        }
    }
}

fn allows(rule: &PolicyRule, part: &Part) -> bool {
    let found = unwrapped(part);
    let is_covered = |part: &Part| {
        let mut covering = rule
            .body
            .runs
            .iter()
            .filter(|words| part.argv.starts_with(words));
        covering.any(|words| first_hazard(&part.argv, words.len()).is_none())
    };
    found.unclear.is_none() && found.parts.iter().all(is_covered)
}

fn paths(rule: &PolicyRule, example: &str, home: Option<&Path>) -> bool {
    let body = &rule.body;
    let patterns: Vec<(&Pattern, usize)> = [&body.reads, &body.writes, &body.deletes]
        .into_iter()
        .flatten()
        .map(|pattern| (pattern, 0))
        .collect();
    let path = match (example.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) | (None, _) => PathBuf::from(ROOT).join(example),
    };
    let context = SessionContext::new(SessionId::new("examples"), ROOT);
    let set = PathSet::new(rule.effect, &patterns);
    set.is_ok_and(|set| !set.find(&path, &context).is_empty())
}

fn tools(rule: &PolicyRule, example: &str) -> bool {
    let (origin, name) = match example
        .strip_prefix("mcp:")
        .and_then(|rest| rest.split_once('/'))
    {
        Some((server, name)) => (Origin::Mcp(server.into()), name),
        None => (Origin::Local, example),
    };
    let tool = ToolIdentity {
        name: name.into(),
        origin,
        provider: "".into(),
        digest: "".into(),
    };
    let is_alone = rule.is_about_tool_alone();
    let names = rule.body.tool.as_ref();
    is_alone && names.is_some_and(|wanted| wanted.names(&tool, rule.effect))
}
