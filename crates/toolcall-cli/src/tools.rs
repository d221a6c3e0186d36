//! `toolcall tools`: what there is, what it takes, where it is from.
//! It shows definitions and calls nothing.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolcall::{Definition, Kind, Origin, Registry};

use crate::args::Listing;
use crate::screen::{self, Screen};
use crate::view::{BOLD, DIM, painted, width, wrapped};

/// Lists the tools.
pub(crate) fn list(listing: &Listing, tools: &Registry) -> anyhow::Result<ExitCode> {
    let (screen, writing) = screen::open()?;
    let code = match listing.lint {
        true => advise(listing, tools, &screen),
        false => show(listing, tools, &screen)?,
    };
    writing.finish()?;
    Ok(code)
}

fn show(listing: &Listing, tools: &Registry, screen: &Screen) -> anyhow::Result<ExitCode> {
    let wanted: Vec<&Definition> = match &listing.name {
        None => tools.definitions().collect(),
        Some(name) => vec![find(tools, name)?],
    };
    if listing.json {
        let all: Vec<Value> = wanted.iter().map(|tool| as_json(tool, tools)).collect();
        screen.line(&format!("{:#}", Value::Array(all)));
        return Ok(ExitCode::SUCCESS);
    }
    for tool in wanted {
        let lines = match listing.name {
            None => in_short(tool, tools),
            Some(_) => in_full(tool, tools),
        };
        for line in lines {
            screen.line(&line);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find<'t>(tools: &'t Registry, name: &str) -> anyhow::Result<&'t Definition> {
    match tools.definition(name) {
        Some(tool) => Ok(tool),
        None => bail!("{}", tools.explain_unknown(name)),
    }
}

fn in_short(tool: &Definition, tools: &Registry) -> Vec<String> {
    let head = format!(
        "{} {} {}",
        painted(BOLD, &format!("{:<16}", tool.name)),
        format_args!("{:<8}", kind(tool, tools).as_str()),
        painted(DIM, &origin(tool)),
    );
    std::iter::once(head)
        .chain(wrapped(&tool.description, width()))
        .collect()
}

fn in_full(tool: &Definition, tools: &Registry) -> Vec<String> {
    let mut lines = in_short(tool, tools);
    if !tool.aliases.is_empty() {
        lines.extend(wrapped(
            &format!("also: {}", tool.aliases.join(", ")),
            width(),
        ));
    }
    lines.push(format!("{:#}", tool.input_schema));
    lines
}

fn as_json(tool: &Definition, tools: &Registry) -> Value {
    json!({
        "name": &*tool.name,
        "description": &*tool.description,
        "kind": kind(tool, tools).as_str(),
        "aliases": tool.aliases.iter().map(|alias| &**alias).collect::<Vec<_>>(),
        "origin": origin(tool),
        "digest": &*tool.identity().digest,
        "inputSchema": &*tool.input_schema,
    })
}

fn kind(tool: &Definition, tools: &Registry) -> Kind {
    tools.kind(&tool.name).unwrap_or_default()
}

fn origin(tool: &Definition) -> String {
    match &tool.origin {
        Origin::Local => "built in".to_owned(),
        Origin::Mcp(server) => format!("mcp:{server}"),
        Origin::Agent => "the agent".to_owned(),
    }
}

/// Advice is no output of a program that went well: the exit code says so.
fn advise(listing: &Listing, tools: &Registry, screen: &Screen) -> ExitCode {
    let advice = tools.lint();
    if listing.json {
        let all: Vec<Value> = advice
            .iter()
            .map(|advice| json!({"tool": advice.tool, "advice": advice.what}))
            .collect();
        screen.line(&format!("{:#}", Value::Array(all)));
    } else {
        for advice in &advice {
            screen.line(&format!("{}: {}", advice.tool, advice.what));
        }
        if advice.is_empty() {
            screen.line(&format!("{} tools, no advice", tools.definitions().count()));
        }
    }
    match advice.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
