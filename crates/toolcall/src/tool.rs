//! What an author writes: a tool, typed or erased, and its definition.
//! A tool states what it will do and does it; it cannot set a status or ask for permission.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::content::Digest;
use crate::event::ToolResult;
use crate::host::BoxFuture;
use crate::intent::{Annotations, Intent, Kind, Origin, Sketch, ToolIdentity};
use crate::prepare_context::PrepareContext;
use crate::run_context::RunContext;

/// A tool, as its author writes it.
///
/// Only the name, the description and `run` are needed. A tool that states no intent is described
/// by inference and may touch anything, so it is asked about.
pub trait Tool: Send + Sync + 'static {
    /// What the model calls it.
    const NAME: &'static str;
    /// What it does, for the model.
    const DESCRIPTION: &'static str;
    /// Other names it answers to.
    const ALIASES: &'static [&'static str] = &[];
    /// Its category, where inference would guess wrong. Display data, never authority.
    const KIND: Option<Kind> = None;
    /// How long it may run. Without one the engine's limit holds.
    const TIMEOUT: Option<Duration> = None;

    /// What it takes. The JSON schema shown to the model is made from it.
    type Input: DeserializeOwned + JsonSchema + Send + Sync;
    /// What it gives.
    type Output: Into<ToolResult>;

    /// Says what a call will do. It may look, and changes nothing.
    fn prepare(
        &self,
        input: &Self::Input,
        context: &PrepareContext,
    ) -> impl Future<Output = Result<Intent, ToolError>> + Send {
        let _ = input;
        std::future::ready(Ok(context.infer()))
    }

    /// What can be said of a call while the model still writes its input. Without it, or where it
    /// says nothing, the sketch is inferred. Pure.
    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let _ = partial;
        None
    }

    /// Does it.
    fn run(
        &self,
        input: Self::Input,
        context: &RunContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// Why a tool could not do what it should. Any error turns into one with `?`.
#[derive(Clone, PartialEq)]
pub struct ToolError {
    reason: Arc<str>,
    result: ToolResult,
    denied: bool,
}

impl ToolError {
    /// It failed, for this reason.
    pub fn new(reason: impl Into<Arc<str>>) -> Self {
        Self {
            reason: reason.into(),
            result: ToolResult::default(),
            denied: false,
        }
    }

    /// A rule stood in the way.
    pub(crate) fn denied(reason: impl Into<Arc<str>>) -> Self {
        Self {
            denied: true,
            ..Self::new(reason)
        }
    }

    /// Adds what was produced all the same.
    pub fn with(mut self, result: impl Into<ToolResult>) -> Self {
        self.result = result.into();
        self
    }

    /// Why.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub(crate) fn is_denied(&self) -> bool {
        self.denied
    }

    pub(crate) fn into_result(self) -> ToolResult {
        self.result
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolError({})", self.reason)
    }
}

/// So that authors can use `?` on whatever error they meet. (For this to be possible `ToolError`
/// itself is no `std::error::Error`.)
impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            let _infallible = write!(reason, ": {source}");
            cause = source.source();
        }
        Self::new(reason)
    }
}

/// What a model is told about a tool, and what the engine needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: Arc<str>,
    /// What it does.
    pub description: Arc<str>,
    /// What it takes, as a JSON schema.
    pub input_schema: Arc<Value>,
    /// Other names it answers to.
    pub aliases: Vec<Arc<str>>,
    /// Its stated category.
    pub kind: Option<Kind>,
    /// What its provider claims.
    pub annotations: Annotations,
    /// Who provides it.
    pub origin: Origin,
    /// What its provider calls it, where it is registered by another name.
    pub native_name: Option<Arc<str>>,
    /// What its provider is, to the letter: a server's command line or address, without secrets.
    /// Empty for tools that are compiled in.
    pub provider: Arc<str>,
    /// How long it may run.
    pub timeout: Option<Duration>,
}

impl Definition {
    /// A local tool of this name, description and input schema.
    pub fn new(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        input_schema: Value,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema: Arc::new(input_schema),
            aliases: Vec::new(),
            kind: None,
            annotations: Annotations::default(),
            origin: Origin::Local,
            native_name: None,
            provider: "".into(),
            timeout: None,
        }
    }

    /// Who this tool is, to the letter of its definition.
    pub fn identity(&self) -> ToolIdentity {
        ToolIdentity {
            name: self.native_name().clone(),
            origin: self.origin.clone(),
            provider: self.provider.clone(),
            digest: self.digest().into(),
        }
    }

    /// What its provider calls it. Rules go by this name: the registered one depends on which
    /// other tools there are.
    fn native_name(&self) -> &Arc<str> {
        self.native_name.as_ref().unwrap_or(&self.name)
    }

    /// SHA-256 over name, description and schema, with the schema's keys in order, and over what
    /// the provider is and claims, where it says so.
    fn digest(&self) -> String {
        let mut text = String::new();
        for part in [self.native_name(), &self.description] {
            write_canonical(&mut text, &Value::from(&**part));
        }
        write_canonical(&mut text, &self.input_schema);
        if !self.provider.is_empty() {
            write_canonical(&mut text, &Value::from(&*self.provider));
        }
        if self.annotations != Annotations::default() {
            let _infallible = write!(text, "{:?}", self.annotations);
        }
        Digest::of(text).to_string()
    }
}

/// Whether keys keep their order depends on features that other crates turn on; a digest must not.
fn write_canonical(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for key in keys {
                let _infallible = write!(out, "{}:", Value::from(key.as_str()));
                write_canonical(out, &map[key]);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(out, item);
                out.push(',');
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _infallible = write!(out, "{value}");
        }
    }
}

/// A tool whose types are erased: what a registry holds.
pub trait AnyTool: Send + Sync + 'static {
    /// Its definition.
    fn definition(&self) -> &Definition;

    /// What can be said of a call while its input is still being written; nothing means that it
    /// is inferred. Pure.
    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let _ = partial;
        None
    }

    /// Says what a call with [`PrepareContext::input`] will do.
    fn prepare<'a>(
        &'a self,
        context: &'a PrepareContext,
    ) -> BoxFuture<'a, Result<Intent, ToolError>> {
        Box::pin(std::future::ready(Ok(context.infer())))
    }

    /// Does it.
    fn run<'a>(
        &'a self,
        input: Arc<Value>,
        context: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

/// A tool with its types erased, as whoever takes tools of any type wants it.
pub fn erased(tool: impl Tool) -> Arc<dyn AnyTool> {
    Arc::new(TypedTool::new(tool))
}

/// A typed tool behind the erased trait.
struct TypedTool<T> {
    tool: T,
    definition: Definition,
}

impl<T: Tool> TypedTool<T> {
    fn new(tool: T) -> Self {
        let mut definition = Definition::new(T::NAME, T::DESCRIPTION, schema_of::<T::Input>());
        definition.aliases = T::ALIASES.iter().map(|alias| Arc::from(*alias)).collect();
        definition.kind = T::KIND;
        definition.timeout = T::TIMEOUT;
        Self { tool, definition }
    }
}

/// Models read a schema best when nothing in it points elsewhere.
fn schema_of<I: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut generator = settings
        .with(|s| s.inline_subschemas = true)
        .into_generator();
    let mut schema = generator.root_schema_for::<I>().to_value();
    if let Some(map) = schema.as_object_mut() {
        map.remove("$schema");
        map.remove("title");
    }
    schema
}

impl<T: Tool> AnyTool for TypedTool<T> {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        self.tool.sketch(partial)
    }

    fn prepare<'a>(
        &'a self,
        context: &'a PrepareContext,
    ) -> BoxFuture<'a, Result<Intent, ToolError>> {
        Box::pin(async move {
            let input = parse::<T::Input>(context.input())?;
            self.tool.prepare(&input, context).await
        })
    }

    fn run<'a>(
        &'a self,
        input: Arc<Value>,
        context: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let typed = parse::<T::Input>(&input)?;
            drop(input);
            self.tool.run(typed, context).await.map(Into::into)
        })
    }
}

fn parse<I: DeserializeOwned>(input: &Value) -> Result<I, ToolError> {
    I::deserialize(input)
        .map_err(|error| ToolError::new(format!("the input does not fit: {error}")))
}
