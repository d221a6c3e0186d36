//! The `Tool` trait that authors implement, its type-erased form, and tool definitions.
//! A tool states what it will do and then does it; it cannot set a status or ask for permission.

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

/// A tool that a model can call. See the [crate's front page](crate) for examples.
///
/// Only the name, the description and `run` are required. A tool that does not implement `prepare`
/// gets an inferred intent that may touch anything, so that careful policies ask about every call.
pub trait Tool: Send + Sync + 'static {
    /// The name by which the model calls the tool.
    const NAME: &'static str;
    /// Describes to the model what the tool does.
    const DESCRIPTION: &'static str;
    /// Other names that call the same tool.
    const ALIASES: &'static [&'static str] = &[];
    /// The category that editors show, where inference would guess wrong. No policy may rely on it.
    const KIND: Option<Kind> = None;
    /// The longest time that one call may run; [`Limits::run`](crate::Limits::run) where it is
    /// `None`.
    const TIMEOUT: Option<Duration> = None;

    /// The type of the input. The model sees a JSON schema that is generated from it.
    type Input: DeserializeOwned + JsonSchema + Send + Sync;
    /// The type of the result.
    type Output: Into<ToolResult>;

    /// States what a call will do. It may read through the context and must change nothing.
    fn prepare(
        &self,
        input: &Self::Input,
        context: &PrepareContext,
    ) -> impl Future<Output = Result<Intent, ToolError>> + Send {
        let _ = input;
        std::future::ready(Ok(context.infer()))
    }

    /// Describes a call while the model is still writing its input. Returns `None` to have the
    /// sketch inferred. It must be pure.
    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let _ = partial;
        None
    }

    /// Runs the call.
    fn run(
        &self,
        input: Self::Input,
        context: &RunContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// Why a tool failed. Every `std::error::Error` converts into it with `?`.
#[derive(Clone, PartialEq)]
pub struct ToolError {
    reason: Arc<str>,
    result: ToolResult,
    denied: bool,
}

impl ToolError {
    /// Creates an error with this reason, which the model and the user see.
    pub fn new(reason: impl Into<Arc<str>>) -> Self {
        Self {
            reason: reason.into(),
            result: ToolResult::default(),
            denied: false,
        }
    }

    /// Creates an error for something that a rule denies: the call ends as denied.
    pub(crate) fn denied(reason: impl Into<Arc<str>>) -> Self {
        Self {
            denied: true,
            ..Self::new(reason)
        }
    }

    /// Attaches what the tool produced before it failed.
    pub fn with(mut self, result: impl Into<ToolResult>) -> Self {
        self.result = result.into();
        self
    }

    /// Returns the reason.
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

/// Lets authors use `?` on any error. (For this to compile, `ToolError` itself does not implement
/// `std::error::Error`.)
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

/// A tool's definition: what the model reads, and what the engine needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// The name by which the model calls the tool.
    pub name: Arc<str>,
    /// Describes to the model what the tool does.
    pub description: Arc<str>,
    /// The JSON schema of the input.
    pub input_schema: Arc<Value>,
    /// Other names that call the same tool.
    pub aliases: Vec<Arc<str>>,
    /// The category, where the author states one.
    pub kind: Option<Kind>,
    /// What the provider claims about the tool.
    pub annotations: Annotations,
    /// Who provides the tool.
    pub origin: Origin,
    /// The provider's own name for the tool, where it is registered under another one.
    pub native_name: Option<Arc<str>>,
    /// The provider's exact command line or address, without secrets. Empty for tools that are
    /// compiled in.
    pub provider: Arc<str>,
    /// The longest time that one call may run.
    pub timeout: Option<Duration>,
}

impl ToolDefinition {
    /// Creates the definition of a local tool.
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

    /// Returns the identity that rules match: it changes when the definition changes.
    pub fn identity(&self) -> ToolIdentity {
        ToolIdentity {
            name: self.native_name().clone(),
            origin: self.origin.clone(),
            provider: self.provider.clone(),
            digest: self.digest().into(),
        }
    }

    /// The provider's own name. Rules match it, because the registered name depends on which other
    /// tools there are.
    fn native_name(&self) -> &Arc<str> {
        self.native_name.as_ref().unwrap_or(&self.name)
    }

    /// Returns a SHA-256 digest of name, description, schema (with sorted keys), provider and
    /// claims.
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

/// Writes JSON with sorted keys. Whether `serde_json` keeps the order of keys depends on features
/// that other crates turn on; a digest must not.
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

/// A tool with its types erased, as a [`Registry`](crate::Registry) holds it.
pub trait AnyTool: Send + Sync + 'static {
    /// Returns the definition.
    fn definition(&self) -> &ToolDefinition;

    /// Describes a call while the model is still writing its input. Returns `None` to have the
    /// sketch inferred. It must be pure.
    fn sketch(&self, partial: &Value) -> Option<Sketch> {
        let _ = partial;
        None
    }

    /// States what a call with [`PrepareContext::input`] will do.
    fn prepare<'a>(
        &'a self,
        context: &'a PrepareContext,
    ) -> BoxFuture<'a, Result<Intent, ToolError>> {
        Box::pin(std::future::ready(Ok(context.infer())))
    }

    /// Runs the call.
    fn run<'a>(
        &'a self,
        input: Arc<Value>,
        context: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

/// Erases the types of a tool, for [`Registry::add_any`](crate::Registry::add_any) and lists of
/// tools.
pub fn erased(tool: impl Tool) -> Arc<dyn AnyTool> {
    Arc::new(TypedTool::new(tool))
}

/// Implements [`AnyTool`] for a typed tool.
struct TypedTool<T> {
    tool: T,
    definition: ToolDefinition,
}

impl<T: Tool> TypedTool<T> {
    fn new(tool: T) -> Self {
        let mut definition = ToolDefinition::new(T::NAME, T::DESCRIPTION, schema_of::<T::Input>());
        definition.aliases = T::ALIASES.iter().map(|alias| Arc::from(*alias)).collect();
        definition.kind = T::KIND;
        definition.timeout = T::TIMEOUT;
        Self { tool, definition }
    }
}

/// Generates the input schema without references: models read it best that way.
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
    fn definition(&self) -> &ToolDefinition {
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
