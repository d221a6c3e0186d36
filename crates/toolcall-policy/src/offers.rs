//! Offers the rules that an "always" answer may remember, each tried on the call that is asked about.
//! A rule that would not allow the call, or would allow far more, is not offered.

use toolcall::{Command, Lifetime, Part, Reading, Rule, Touch};
use toolcall_shell::{Words, touches};

use crate::command::unwrap_all;
use crate::evaluation::Evaluation;
use crate::finding::FileAction;
use crate::paths::Pattern;
use crate::programs::{OfferPrefix, is_never_offered, offered_words, runs_anything};
use crate::reach::{ReachPattern, mode_name};
use crate::rule::{PolicyRule, RuleBody};
use crate::rule_effect::RuleEffect;
use crate::rule_text::text;
use crate::tool_name::ToolName;

/// How a rule names a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breadth {
    /// By the first words of its programs (`run`).
    Words,
    /// By its whole text (`exactly`).
    Exact,
}

/// Returns the rules that an "always" answer may remember for this intent, the shortest lifetime first.
pub(crate) fn offers(evaluation: &Evaluation<'_>) -> Vec<Rule> {
    let has_command = evaluation
        .intent
        .touches
        .iter()
        .any(|touch| matches!(touch, Touch::Runs(_)));
    let breadths: &[Breadth] = if has_command {
        &[Breadth::Exact, Breadth::Words]
    } else {
        &[Breadth::Exact]
    };
    let mut offers = Vec::new();
    for breadth in breadths {
        let Some(body) = body(evaluation, *breadth).filter(|body| *body != RuleBody::default())
        else {
            continue;
        };
        let text = text(&body);
        if allows_call(evaluation, &text) {
            let rule = |lifetime| Rule {
                text: text.as_str().into(),
                lifetime,
            };
            offers.extend(
                lifetimes(evaluation, &body)
                    .iter()
                    .map(|lifetime| rule(*lifetime)),
            );
        }
    }
    offers
}

/// Whether the rule, parsed from its text, allows the call.
fn allows_call(evaluation: &Evaluation<'_>, text: &str) -> bool {
    let Ok(rule) = PolicyRule::from_text(text, RuleEffect::Allow, None) else {
        return false;
    };
    let tried = Evaluation {
        extra: Some(&rule),
        ..*evaluation
    };
    rule.text() == text && tried.outcome().effect == RuleEffect::Allow
}

/// Returns the lifetimes to offer. Rules about paths hold in the project at most; a rule about a text that
/// was not understood holds for the session only.
fn lifetimes(evaluation: &Evaluation<'_>, body: &RuleBody) -> &'static [Lifetime] {
    let is_unclear = |touch: &Touch| match touch {
        Touch::Runs(command) => matches!(command.reading, Reading::Unclear(_)),
        Touch::Reads(_)
        | Touch::Writes(_)
        | Touch::Deletes(_)
        | Touch::Moves { .. }
        | Touch::Reaches(_)
        | Touch::Unknown => false,
    };
    let has_paths = [&body.reads, &body.writes, &body.deletes]
        .iter()
        .any(|list| !list.is_empty());
    if evaluation.intent.touches.iter().any(is_unclear) {
        &[Lifetime::Session]
    } else if has_paths || !body.exactly.is_empty() {
        &[Lifetime::Session, Lifetime::Project]
    } else {
        &[Lifetime::Session, Lifetime::Project, Lifetime::Everywhere]
    }
}

/// Returns what a rule would have to cover; `None` if any of it is never offered.
fn body(evaluation: &Evaluation<'_>, breadth: Breadth) -> Option<RuleBody> {
    let mut body = RuleBody::default();
    for touch in &evaluation.intent.touches {
        add(evaluation, touch, breadth, &mut body)?;
    }
    Some(body)
}

fn add(
    evaluation: &Evaluation<'_>,
    touch: &Touch,
    breadth: Breadth,
    body: &mut RuleBody,
) -> Option<()> {
    match touch {
        Touch::Reads(path) => add_path(evaluation, FileAction::Read, path, body),
        Touch::Writes(path) => add_path(evaluation, FileAction::Write, path, body),
        Touch::Deletes(path) => add_path(evaluation, FileAction::Delete, path, body),
        Touch::Moves { from, to } => {
            add_path(evaluation, FileAction::Read, from, body)?;
            add_path(evaluation, FileAction::Delete, from, body)?;
            add_path(evaluation, FileAction::Write, to, body)
        }
        Touch::Reaches(target) if target.starts_with("mcp:") => add_tool(evaluation, body),
        Touch::Unknown => add_tool(evaluation, body),
        // A switch of modes is asked about each time.
        Touch::Reaches(target) if mode_name(target).is_some() => None,
        Touch::Reaches(target) => {
            let reach = ReachPattern::parse(target).ok()?;
            if !body.reaches.contains(&reach) {
                body.reaches.push(reach);
            }
            Some(())
        }
        Touch::Runs(command) => {
            for file in touches(&command.reading) {
                add(evaluation, &file, breadth, body)?;
            }
            match breadth {
                Breadth::Words => add_words(evaluation, command, body),
                Breadth::Exact => add_exact(command, body),
            }
        }
    }
}

/// Adds a path, unless it is already allowed.
fn add_path(
    evaluation: &Evaluation<'_>,
    action: FileAction,
    path: &std::path::Path,
    body: &mut RuleBody,
) -> Option<()> {
    let mut worst = RuleEffect::Allow;
    evaluation.file(action, path, &mut |finding| {
        worst = worst.max(finding.effect)
    });
    if worst == RuleEffect::Allow {
        return Some(());
    }
    let pattern = Pattern::of(path, evaluation.context)?;
    let list = match action {
        FileAction::Read => &mut body.reads,
        FileAction::Write => &mut body.writes,
        FileAction::Delete => &mut body.deletes,
    };
    if !list.contains(&pattern) {
        list.push(pattern);
    }
    Some(())
}

/// Adds the tool as it is defined now; nothing narrower is known about the call.
fn add_tool(evaluation: &Evaluation<'_>, body: &mut RuleBody) -> Option<()> {
    let tool = &evaluation.intent.tool;
    body.tool = Some(ToolName::of(tool)?);
    body.definition = Some(tool.digest.to_string()).filter(|digest| !digest.is_empty());
    body.definition.as_ref().map(|_| ())
}

/// Adds the first words of every program that no rule covers yet.
fn add_words(evaluation: &Evaluation<'_>, command: &Command, body: &mut RuleBody) -> Option<()> {
    for part in programs(command)? {
        if evaluation.covering_one(&part).is_ok() {
            continue;
        }
        let OfferPrefix::Words(length) = offered_words(&part.argv) else {
            return None;
        };
        let words = part.argv[..length].to_vec();
        if !body.runs.contains(&words) {
            body.runs.push(words);
        }
    }
    Some(())
}

/// Adds exactly this command in this directory.
fn add_exact(command: &Command, body: &mut RuleBody) -> Option<()> {
    match &command.reading {
        Reading::Understood(_) => drop(programs(command)?),
        Reading::Unclear(_) => {
            let words = Words::of(&command.text);
            if words.iter().any(runs_anything) {
                return None;
            }
        }
    }
    body.exactly.push(command.text.to_string());
    body.directory = Some(command.cwd.clone());
    Some(())
}

/// Returns every program of an understood command; `None` if one of them is never offered.
fn programs(command: &Command) -> Option<Vec<Part>> {
    let Reading::Understood(parts) = &command.reading else {
        return None;
    };
    let all: Vec<Part> = parts
        .iter()
        .flat_map(|part| unwrap_all(part).parts)
        .collect();
    let is_offered = |part: &Part| {
        let program = part.argv.first();
        program.is_some_and(|program| !is_never_offered(program))
    };
    all.iter().all(is_offered).then_some(all)
}
