//! Decodes the tools that a server lists, within limits on their number and size.
//! It trusts nothing about them: a tool that cannot be decoded is left out with a note, and the others stay.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::text::{clean_block, clean_line};
use toolcall::{Annotations, Origin, ToolDefinition};

use super::decode::{capped, clean_schema};
use super::names;
use super::settings::{ServerSettings, ToolDisplay};

const MOST_PAGES: usize = 100;
const MOST_TOOLS: usize = 1_000;
const MOST_BYTES: usize = 8 * 1024 * 1024;
const MOST_NOTES: usize = 20;
const LONGEST_DESCRIPTION: usize = 16 * 1024;
const LARGEST_SCHEMA: usize = 1024 * 1024;

/// A tool as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OfferedTool {
    /// The definition, under the name that the server gives the tool.
    pub(super) definition: ToolDefinition,
    pub(super) display: ToolDisplay,
    /// The digest of the definition: it changes with any part of it.
    pub(super) digest: Arc<str>,
}

impl OfferedTool {
    pub(super) fn native(&self) -> &Arc<str> {
        &self.definition.name
    }
}

/// A list of tools, built up page by page.
#[derive(Debug, Default)]
pub(super) struct ToolListing {
    pub(super) tools: Vec<OfferedTool>,
    pub(super) notes: Vec<String>,
    seen: BTreeSet<Arc<str>>,
    cursors: BTreeSet<String>,
    bytes: usize,
    pages: usize,
}

impl ToolListing {
    /// Adds a page and returns the cursor of the next one, unless the list is complete or a limit is reached.
    pub(super) fn add(&mut self, page: Value, server: &ServerSettings) -> Option<String> {
        self.pages += 1;
        let Value::Object(mut page) = page else {
            self.note("the list of its tools is no object".to_owned());
            return None;
        };
        match page.remove("tools") {
            Some(Value::Array(items)) => self.add_all(items, server),
            _ => self.note("a page of its list holds no `tools`".to_owned()),
        }
        let Some(Value::String(cursor)) = page.remove("nextCursor") else {
            return None;
        };
        self.next_cursor(cursor)
    }

    fn add_all(&mut self, items: Vec<Value>, server: &ServerSettings) {
        for (place, item) in items.into_iter().enumerate() {
            if self.tools.len() == MOST_TOOLS || self.bytes > MOST_BYTES {
                return self.note(format!(
                    "only its first {} tools are offered",
                    self.tools.len()
                ));
            }
            let name = item.get("name").and_then(Value::as_str).map(str::to_owned);
            match offered(item, server) {
                Ok(tool) if self.seen.contains(tool.native()) => {
                    self.note(format!(
                        "it lists `{}` twice; the first counts",
                        tool.native()
                    ));
                }
                Ok(tool) => {
                    self.bytes +=
                        tool.definition.description.len() + size(&tool.definition.input_schema);
                    self.seen.insert(tool.native().clone());
                    self.tools.push(tool);
                }
                Err(why) => {
                    let name = name.unwrap_or_else(|| format!("number {}", place + 1));
                    self.note(format!(
                        "the tool `{}` is left out: {why}",
                        clean_line(&name, 60)
                    ));
                }
            }
        }
    }

    fn next_cursor(&mut self, cursor: String) -> Option<String> {
        let is_full = self.tools.len() == MOST_TOOLS || self.bytes > MOST_BYTES;
        if is_full || self.pages == MOST_PAGES {
            self.note("its list goes on; the rest is left out".to_owned());
            return None;
        }
        if cursor.len() > 64 * 1024 || !self.cursors.insert(cursor.clone()) {
            self.note("its list goes in a circle; the rest is left out".to_owned());
            return None;
        }
        Some(cursor)
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(note);
        }
    }
}

fn offered(item: Value, server: &ServerSettings) -> Result<OfferedTool, String> {
    let Value::Object(mut item) = item else {
        return Err("it is no object".to_owned());
    };
    let Some(Value::String(native)) = item.remove("name") else {
        return Err("it has no name".to_owned());
    };
    if let Some(why) = names::refusal(&native) {
        return Err(why.to_owned());
    }
    let execution = item.get("execution").and_then(|how| how.get("taskSupport"));
    if execution.and_then(Value::as_str) == Some("required") {
        return Err("it runs only as a task, which is not supported".to_owned());
    }
    let schema = schema_of(item.remove("inputSchema"))?;
    let description = item.get("description").and_then(Value::as_str);
    let description = clean_block(&capped(
        description.unwrap_or_default(),
        LONGEST_DESCRIPTION,
    ));
    let display = server.tools.get(&native).cloned().unwrap_or_default();
    let mut definition = ToolDefinition::new(native, description, schema);
    definition.kind = display.kind;
    definition.annotations = annotations(item.get("annotations"));
    definition.origin = Origin::Mcp(server.name.clone());
    definition.provider = server.launch.provider();
    definition.timeout = Some(server.timeouts.call);
    let digest = definition.identity().digest;
    Ok(OfferedTool {
        definition,
        display,
        digest,
    })
}

/// Returns the input schema. Some servers omit it for tools without parameters.
fn schema_of(schema: Option<Value>) -> Result<Value, String> {
    match schema {
        None | Some(Value::Null) => Ok(json!({"type": "object"})),
        Some(schema @ Value::Object(_)) if size(&schema) > LARGEST_SCHEMA => {
            Err(format!("its input schema is over {LARGEST_SCHEMA} bytes"))
        }
        Some(schema @ Value::Object(_)) => Ok(clean_schema(schema)),
        Some(_) => Err("its input schema is no object".to_owned()),
    }
}

fn annotations(claims: Option<&Value>) -> Annotations {
    let claim = |key: &str| claims?.get(key)?.as_bool();
    Annotations {
        read_only: claim("readOnlyHint"),
        destructive: claim("destructiveHint"),
        open_world: claim("openWorldHint"),
    }
}

/// Returns roughly how many bytes a value takes as JSON text.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + items.len() + 2,
        Value::Object(map) => {
            let members = map.iter().map(|(key, item)| key.len() + 4 + size(item));
            members.sum::<usize>() + 2
        }
    }
}
