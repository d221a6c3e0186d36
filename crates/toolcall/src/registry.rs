//! The tools of an agent by name, with the schemas that inputs are checked against.
//! A registry finds and checks; it never runs anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::event::Outline;
use crate::infer;
use crate::intent::{Intent, Kind, Sketch, ToolIdentity};
use crate::map::FastMap;
use crate::schema::Schema;
use crate::text::clean_line;
use crate::tool::{AnyTool, Tool, ToolDefinition, erased};

const LONGEST_NAME: usize = 128;
/// How many tools are listed when a name is unknown.
const MOST_LISTED: usize = 10;

/// The tools of an agent, in the order in which they were added. Clones share the tools.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Arc<Entry>>,
    indices: FastMap<Arc<str>, usize>,
}

/// A tool with its identity, kind and compiled schema.
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn AnyTool>,
    pub(crate) identity: ToolIdentity,
    kind: Kind,
    schema: Schema,
}

/// A tool that cannot be registered.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RegistryError {
    /// Two tools of one name.
    #[error("a tool or alias `{0}` is registered already; give this one another name")]
    Duplicate(Arc<str>),
    /// The name is not valid.
    #[error("`{0}` is no tool name; use 1 to 128 letters, digits, `_`, `-`, `.` or `/`")]
    BadName(String),
    /// The input schema is not valid.
    #[error("the input schema of `{tool}` cannot be used: {reason}")]
    BadSchema {
        /// The tool.
        tool: Arc<str>,
        /// What is wrong with it.
        reason: String,
    },
}

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a typed tool.
    pub fn add(&mut self, tool: impl Tool) -> Result<&mut Self, RegistryError> {
        self.add_any(erased(tool))
    }

    /// Adds an erased tool.
    pub fn add_any(&mut self, tool: Arc<dyn AnyTool>) -> Result<&mut Self, RegistryError> {
        let definition = tool.definition();
        let names = [std::slice::from_ref(&definition.name), &definition.aliases].concat();
        for (index, name) in names.iter().enumerate() {
            check_name(name)?;
            if self.indices.contains_key(name) || names[..index].contains(name) {
                return Err(RegistryError::Duplicate(name.clone()));
            }
        }
        let schema = compile(definition)?;
        let identity = definition.identity();
        let kind = infer::kind_of(definition);
        let index = self.entries.len();
        self.indices
            .extend(names.into_iter().map(|name| (name, index)));
        self.entries.push(Arc::new(Entry {
            tool,
            identity,
            kind,
            schema,
        }));
        Ok(self)
    }

    /// Removes the tool of this name or alias. Returns whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(gone) = self.indices.get(name).copied() else {
            return false;
        };
        self.entries.remove(gone);
        self.indices.retain(|_, index| *index != gone);
        for index in self.indices.values_mut().filter(|index| **index > gone) {
            *index -= 1;
        }
        true
    }

    /// Returns the definitions to send to the model, in the order in which the tools were added.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.entries.iter().map(|entry| entry.tool.definition())
    }

    /// Returns the definition of the tool of this name or alias.
    pub fn definition(&self, name: &str) -> Option<&ToolDefinition> {
        self.find(name).map(|entry| entry.tool.definition())
    }

    /// Returns the kind of the tool of this name or alias, as far as its definition shows it.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        self.find(name).map(|entry| entry.kind)
    }

    /// Returns the tool of this name or alias.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.indices.get(name).map(|index| &self.entries[*index])
    }

    /// Returns an error message for an unknown tool name, with similar names or the list of tools.
    pub fn explain_unknown(&self, name: &str) -> String {
        let shown = clean_line(name, 80);
        if self.entries.is_empty() {
            return format!("there is no tool `{shown}`: no tools are registered");
        }
        let quoted = |name: &str| format!("`{name}`");
        let similar: Vec<String> = self.similar_names(name).into_iter().map(quoted).collect();
        if !similar.is_empty() {
            let similar = similar.join(", ");
            return format!("there is no tool `{shown}`; did you mean {similar}");
        }
        let names = self.definitions().take(MOST_LISTED);
        let mut listed: Vec<String> = names.map(|tool| quoted(&tool.name)).collect();
        let more = self.entries.len() - listed.len();
        if more > 0 {
            listed.push(format!("and {more} more"));
        }
        format!(
            "there is no tool `{shown}`; there are {}",
            listed.join(", ")
        )
    }

    fn similar_names(&self, name: &str) -> Vec<&str> {
        let name: String = name.chars().take(LONGEST_NAME).collect();
        let mut scored: Vec<(f64, &str)> = self
            .indices
            .keys()
            .map(|known| (strsim::jaro_winkler(&name, known), &**known))
            .filter(|(score, _)| *score > 0.75)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.into_iter().take(3).map(|(_, known)| known).collect()
    }
}

fn check_name(name: &str) -> Result<(), RegistryError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain) {
        return Ok(());
    }
    Err(RegistryError::BadName(clean_line(name, LONGEST_NAME)))
}

/// Compiles the input schema. A schema that cannot be checked within limits is an error: no tool is
/// called unchecked.
fn compile(definition: &ToolDefinition) -> Result<Schema, RegistryError> {
    Schema::compile(&definition.input_schema).map_err(|reason| RegistryError::BadSchema {
        tool: definition.name.clone(),
        reason: clean_line(&reason.to_string(), 400),
    })
}

impl Entry {
    /// Describes a call from the part of the input that is there.
    pub(crate) fn sketch(&self, input: Option<&Value>) -> Sketch {
        self.stated_sketch(input)
            .unwrap_or_else(|| infer::sketch(&self.identity.name, self.kind(input), input))
    }

    /// Like `sketch`, computed when it is first needed.
    pub(crate) fn outline(&self, input: Option<&Value>) -> Outline {
        match self.stated_sketch(input) {
            Some(sketch) => sketch.into(),
            None => Outline::inferred(self.kind(input)),
        }
    }

    /// Returns the tool's own sketch. A panic in it is ignored: there is no call yet that could
    /// fail.
    fn stated_sketch(&self, input: Option<&Value>) -> Option<Sketch> {
        let state = |input| catch_unwind(AssertUnwindSafe(|| self.tool.sketch(input))).ok()?;
        input.and_then(state).map(infer::bounded)
    }

    /// Infers the intent of a call whose tool states none.
    pub(crate) fn infer(&self, input: &Value, cwd: &Path) -> Intent {
        infer::intent(&self.identity.name, self.kind(Some(input)), input, cwd)
    }

    fn kind(&self, input: Option<&Value>) -> Kind {
        let definition = self.tool.definition();
        input.map_or(self.kind, |input| {
            infer::kind_with(definition, self.kind, input)
        })
    }

    /// Checks an input. The error lists the violations with their paths.
    pub(crate) fn check(&self, input: &Value) -> Result<(), String> {
        self.schema.check(input)
    }
}
