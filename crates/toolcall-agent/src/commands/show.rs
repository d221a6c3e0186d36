//! The output of slash commands, as Markdown.
//! Text from a tool or a server is escaped so that it stays in its cell, line or code block.

use toolcall::text::duration;
use toolcall::{Effect, Kind, Lifetime, Origin, Registry, ToolDefinition};
use toolcall_acp::service::{ConfigOption, ConfigOptionCategory};
use toolcall_history::{CallRow, Stats, StatsGroup};
use toolcall_policy::{Explanation, FileState};

use crate::markdown::{block, cell, code, line, table};
use crate::session_resources::SessionResources;

/// Lists the tools, or shows one of them in full.
pub(super) fn tools(tools: &Registry, name: &str) -> String {
    if name.is_empty() {
        let rows = tools.definitions().map(|tool| {
            let kind = tools.kind(&tool.name).unwrap_or(Kind::Other);
            let about = tool.description.lines().next().unwrap_or_default();
            [
                tool.name.to_string(),
                kind.as_str().to_owned(),
                origin(tool),
                about.to_owned(),
            ]
        });
        return table(["tool", "kind", "from", "what it does"], rows);
    }
    match tools.definition(name) {
        Some(tool) => format!(
            "**{}** ({})\n\n{}\n{}",
            cell(&tool.name),
            cell(&origin(tool)),
            block(&tool.description, "text"),
            block(&format!("{:#}", tool.input_schema), "json")
        ),
        None => line(&tools.explain_unknown(name)),
    }
}

fn origin(tool: &ToolDefinition) -> String {
    match &tool.origin {
        Origin::Local => "toolcall".to_owned(),
        Origin::Mcp(server) => server.to_string(),
        Origin::Agent => "agent".to_owned(),
    }
}

/// Lists the rules in force and where they come from.
pub(super) fn rules(resources: &SessionResources) -> String {
    let rules = resources.policy().rules();
    let mut said = format!("Mode: **{}**\n\n", rules.mode().as_str());
    if let Some(problem) = resources.policy().problem() {
        said += &format!("Everything is denied: {}\n\n", line(&problem.to_string()));
    }
    let files = resources.sources();
    let rows = files.files().iter().map(|file| {
        let state = match &file.state {
            FileState::Absent => "not there",
            FileState::Active(_) => "holds",
            FileState::Untrusted(_) => "not trusted: only tightens",
            FileState::Broken(_) => "broken",
        };
        [file.path.display().to_string(), state.to_owned()]
    });
    said += &table(["file", "state"], rows);
    said + &kept(resources)
}

fn kept(resources: &SessionResources) -> String {
    let kept = match resources.policy().kept() {
        Ok(kept) if kept.is_empty() => return String::new(),
        Ok(kept) => kept,
        Err(error) => {
            return format!(
                "\nKept answers cannot be read: {}\n",
                line(&error.to_string())
            );
        }
    };
    let rows = kept.iter().map(|kept| {
        let effect = match kept.effect {
            Effect::Allow => "allow",
            Effect::Deny => "deny",
        };
        let lifetime = match kept.lifetime {
            Lifetime::Session => "this session",
            Lifetime::Project => "this project",
            Lifetime::Everywhere => "everywhere",
        };
        [
            kept.id.to_string(),
            effect.to_owned(),
            lifetime.to_owned(),
            kept.text.clone(),
        ]
    });
    format!(
        "\nKept answers:\n\n{}",
        table(["id", "answer", "where", "rule"], rows)
    )
}

/// Shows how the policy would judge a command.
pub(super) fn explanation(command: &str, explanation: &Explanation) -> String {
    let verdict = explanation.effect.as_str();
    let rows = explanation.steps.iter().map(|step| {
        let change = step.change.clone().unwrap_or_default();
        [
            step.effect.as_str().to_owned(),
            step.what.clone(),
            step.reason.clone(),
            change,
        ]
    });
    format!(
        "**{verdict}** {}: {}\n\n{}",
        code(command),
        line(&explanation.reason),
        table(["verdict", "part", "because", "to change it"], rows)
    )
}

/// Lists the calls of the session, the latest last.
pub(super) fn calls(calls: &[CallRow]) -> String {
    if calls.is_empty() {
        return "No calls yet.\n".to_owned();
    }
    let rows = calls.iter().rev().map(|call| {
        [
            call.id.to_string(),
            call.status.clone(),
            call.title.clone(),
            duration(call.waited),
            duration(call.ran),
        ]
    });
    table(["call", "ending", "title", "waited", "ran"], rows)
}

/// Shows how often each tool was called and how its calls ended.
pub(super) fn stats(stats: &Stats) -> String {
    let row = |group: &StatsGroup| {
        let success = group
            .success_rate()
            .map_or("-".to_owned(), |rate| format!("{:.0} %", rate * 100.0));
        [
            group.name.clone(),
            group.calls.to_string(),
            success,
            group.denied.to_string(),
            duration(group.ran.p50),
            duration(group.ran.p95),
            duration(group.waited),
        ]
    };
    let rows = stats
        .by_tool
        .iter()
        .chain(std::iter::once(&stats.all))
        .map(row);
    table(
        ["tool", "calls", "success", "denied", "p50", "p95", "waited"],
        rows,
    )
}

/// Lists the models and marks the current one.
pub(super) fn models(choices: &[ConfigOption]) -> String {
    let models = choices
        .iter()
        .filter(|choice| choice.sort == ConfigOptionCategory::Model);
    let rows = models.flat_map(|choice| {
        choice.values.iter().map(|value| {
            let mark = if value.id == choice.current {
                "answers"
            } else {
                ""
            };
            [
                value.name.clone(),
                mark.to_owned(),
                value.description.clone(),
            ]
        })
    });
    table(["model", "", "what it is"], rows)
}

/// Reports an unknown command and suggests the nearest one.
pub(super) fn unknown(name: &str, known: &[&str]) -> String {
    let near = |other: &&&str| strsim::jaro_winkler(name, other);
    let nearest = known.iter().max_by(|a, b| near(a).total_cmp(&near(b)));
    let nearest = nearest.copied().unwrap_or_default();
    let all: Vec<String> = known.iter().map(|name| format!("`/{name}`")).collect();
    format!(
        "There is no command {}. Did you mean `/{nearest}`? There are {}.\n",
        code(&format!("/{name}")),
        all.join(", ")
    )
}
