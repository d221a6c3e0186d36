//! Advice for tool authors: vague names and missing descriptions.
//! It reads definitions and changes nothing.

use serde_json::Value;

use crate::registry::Registry;
use crate::tool::ToolDefinition;

/// Names that explain nothing by themselves.
const VAGUE: [&str; 24] = [
    "action", "call", "data", "do", "exec", "execute", "function", "get", "handle", "helper",
    "invoke", "main", "misc", "op", "perform", "process", "query", "run", "search", "set", "test",
    "tool", "use", "util",
];

/// Something that a tool author should improve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorAdvice {
    /// The tool.
    pub tool: String,
    /// What to improve.
    pub what: String,
}

impl Registry {
    /// Returns advice to the authors of these tools, tool by tool.
    pub fn lint(&self) -> Vec<AuthorAdvice> {
        self.definitions().flat_map(lint).collect()
    }
}

fn lint(definition: &ToolDefinition) -> Vec<AuthorAdvice> {
    let mut advice = Vec::new();
    if explains_nothing(&definition.name) {
        advice.push(
            "its name explains nothing; say what it does to what, like `read_file`".to_owned(),
        );
    }
    if definition.description.trim().is_empty() {
        advice.push("it has no description; say what it does and when to use it".to_owned());
    }
    lint_properties(&definition.input_schema, "", &mut advice);
    let advise = |what| AuthorAdvice {
        tool: definition.name.to_string(),
        what,
    };
    advice.into_iter().map(advise).collect()
}

fn lint_properties(schema: &Value, path: &str, advice: &mut Vec<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        if name.chars().count() < 2 {
            advice.push(format!("the name of property `{path}` explains nothing"));
        }
        let description = property["description"].as_str().unwrap_or_default();
        if description.trim().is_empty() {
            advice.push(format!("property `{path}` has no description"));
        }
        lint_properties(property, &path, advice);
        lint_properties(&property["items"], &path, advice);
    }
}

/// Returns whether a name is too short, has no vowel, or is one vague word.
fn explains_nothing(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let has_vowel = lower.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    lower.len() < 3 || !has_vowel || VAGUE.contains(&lower.as_str())
}
