//! `toolcall tools`: lists tools, with their input and origin.
//! It shows definitions and calls nothing.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolcall::{Kind, Origin, Registry, ToolDefinition};

use crate::args::ToolsArgs;
use crate::screen::{self, Screen};
use crate::view::{BOLD, DIM, paint, pluralize, width, wrap};

/// Lists the tools.
pub(crate) fn list(args: &ToolsArgs, tools: &Registry) -> anyhow::Result<ExitCode> {
    let (screen, output) = screen::open()?;
    let code = if args.lint {
        show_advice(args, tools, &screen)
    } else {
        show(args, tools, &screen)?
    };
    output.finish()?;
    Ok(code)
}

fn show(args: &ToolsArgs, tools: &Registry, screen: &Screen) -> anyhow::Result<ExitCode> {
    let wanted: Vec<&ToolDefinition> = match &args.name {
        None => tools.definitions().collect(),
        Some(name) => vec![find(tools, name)?],
    };
    if args.json {
        let all: Vec<Value> = wanted.iter().map(|tool| as_json(tool, tools)).collect();
        screen.line(&format!("{:#}", Value::Array(all)));
        return Ok(ExitCode::SUCCESS);
    }
    for tool in wanted {
        let lines = match args.name {
            None => in_short(tool, tools),
            Some(_) => in_full(tool, tools),
        };
        for line in lines {
            screen.line(&line);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find<'t>(tools: &'t Registry, name: &str) -> anyhow::Result<&'t ToolDefinition> {
    match tools.definition(name) {
        Some(tool) => Ok(tool),
        None => bail!("{}", tools.explain_unknown(name)),
    }
}

fn in_short(tool: &ToolDefinition, tools: &Registry) -> Vec<String> {
    let head = format!(
        "{} {} {}",
        paint(BOLD, &format!("{:<16}", tool.name)),
        format_args!("{:<8}", kind(tool, tools).as_str()),
        paint(DIM, &origin(tool)),
    );
    std::iter::once(head)
        .chain(wrap(&tool.description, width()))
        .collect()
}

fn in_full(tool: &ToolDefinition, tools: &Registry) -> Vec<String> {
    let mut lines = in_short(tool, tools);
    if !tool.aliases.is_empty() {
        lines.extend(wrap(&format!("also: {}", tool.aliases.join(", ")), width()));
    }
    lines.push(format!("{:#}", tool.input_schema));
    lines
}

fn as_json(tool: &ToolDefinition, tools: &Registry) -> Value {
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

fn kind(tool: &ToolDefinition, tools: &Registry) -> Kind {
    tools.kind(&tool.name).unwrap_or_default()
}

fn origin(tool: &ToolDefinition) -> String {
    match &tool.origin {
        Origin::Local => "built in".to_owned(),
        Origin::Mcp(server) => format!("mcp:{server}"),
        Origin::Agent => "the agent".to_owned(),
    }
}

/// Shows advice for tool authors. The exit code is 1 if there is any.
fn show_advice(args: &ToolsArgs, tools: &Registry, screen: &Screen) -> ExitCode {
    let advice = tools.lint();
    if args.json {
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
            let count = pluralize(tools.definitions().count(), "tool");
            screen.line(&format!("{count}, no advice"));
        }
    }
    if advice.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
