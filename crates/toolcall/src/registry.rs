//! Names to tools, with every input checked against its schema before a tool sees it.
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
use crate::tool::{AnyTool, Definition, Tool, erased};

const LONGEST_NAME: usize = 128;

/// The tools of an agent, in the order they were added. A copy shares the tools.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Arc<Entry>>,
    places: FastMap<Arc<str>, usize>,
}

/// A tool with what is needed to judge and check its calls.
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
    /// A name that models and people cannot use.
    #[error("`{0}` is no tool name; use 1 to 128 letters, digits, `_`, `-`, `.` or `/`")]
    BadName(String),
    /// A schema that is none.
    #[error("the input schema of `{tool}` cannot be used: {reason}")]
    BadSchema {
        /// The tool.
        tool: Arc<str>,
        /// What is wrong with it.
        reason: String,
    },
}

impl Registry {
    /// An empty registry.
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
        for (place, name) in names.iter().enumerate() {
            check_name(name)?;
            if self.places.contains_key(name) || names[..place].contains(name) {
                return Err(RegistryError::Duplicate(name.clone()));
            }
        }
        let schema = compile(definition)?;
        let identity = definition.identity();
        let kind = infer::kind_of(definition);
        let place = self.entries.len();
        self.places
            .extend(names.into_iter().map(|name| (name, place)));
        self.entries.push(Arc::new(Entry {
            tool,
            identity,
            kind,
            schema,
        }));
        Ok(self)
    }

    /// FieldType the tool of this name or alias away. Says whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(gone) = self.places.get(name).copied() else {
            return false;
        };
        self.entries.remove(gone);
        self.places.retain(|_, place| *place != gone);
        for place in self.places.values_mut().filter(|place| **place > gone) {
            *place -= 1;
        }
        true
    }

    /// What to tell a model, in the order the tools were added.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.entries.iter().map(|entry| entry.tool.definition())
    }

    /// What a model is told of the tool of this name or alias.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.find(name).map(|entry| entry.tool.definition())
    }

    /// The kind of the tool of this name or alias, as far as its definition tells.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        self.find(name).map(|entry| entry.kind)
    }

    /// The tool of this name or alias.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.places.get(name).map(|place| &self.entries[*place])
    }

    /// What to say of a name that nobody has.
    pub fn explain_unknown(&self, name: &str) -> String {
        let shown = clean_line(name, 80);
        let near = self.near(name);
        let known = match near.is_empty() {
            true if self.entries.is_empty() => {
                return format!("there is no tool `{shown}`, and no other");
            }
            true => self
                .definitions()
                .take(10)
                .map(|d| format!("`{}`", d.name))
                .collect::<Vec<_>>(),
            false => near.iter().map(|name| format!("`{name}`")).collect(),
        };
        let lead = if near.is_empty() {
            "there are"
        } else {
            "did you mean"
        };
        format!("there is no tool `{shown}`; {lead} {}", known.join(", "))
    }

    fn near(&self, name: &str) -> Vec<&str> {
        let name: String = name.chars().take(LONGEST_NAME).collect();
        let mut scored: Vec<(f64, &str)> = self
            .places
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

/// What cannot be checked within bounds is not registered: nobody may call a tool unchecked.
fn compile(definition: &Definition) -> Result<Schema, RegistryError> {
    Schema::compile(&definition.input_schema).map_err(|reason| RegistryError::BadSchema {
        tool: definition.name.clone(),
        reason: clean_line(&reason.to_string(), 400),
    })
}

impl Entry {
    /// What can be said of a call from what is there of its input.
    pub(crate) fn sketch(&self, input: Option<&Value>) -> Sketch {
        self.stated_sketch(input)
            .unwrap_or_else(|| infer::sketch(&self.identity.name, self.kind(input), input))
    }

    /// The same, to be made when somebody asks.
    pub(crate) fn outline(&self, input: Option<&Value>) -> Outline {
        match self.stated_sketch(input) {
            Some(sketch) => sketch.into(),
            None => Outline::inferred(self.kind(input)),
        }
    }

    /// A sketch is made before there is a call that could fail.
    fn stated_sketch(&self, input: Option<&Value>) -> Option<Sketch> {
        let state = |input| catch_unwind(AssertUnwindSafe(|| self.tool.sketch(input))).ok()?;
        input.and_then(state).map(infer::bounded)
    }

    /// The intent of a call whose tool states none.
    pub(crate) fn infer(&self, input: &Value, cwd: &Path) -> Intent {
        infer::intent(&self.identity.name, self.kind(Some(input)), input, cwd)
    }

    fn kind(&self, input: Option<&Value>) -> Kind {
        let definition = self.tool.definition();
        input.map_or(self.kind, |input| {
            infer::kind_with(definition, self.kind, input)
        })
    }

    /// Checks an input. The error names every violation with its place.
    pub(crate) fn check(&self, input: &Value) -> Result<(), String> {
        self.schema.check(input)
    }
}
