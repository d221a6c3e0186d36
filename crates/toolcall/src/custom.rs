//! Tools created at run time: from a definition and a closure, or around an agent's own
//! `call_tool`.
//! They are judged and checked like any other tool.

use std::sync::Arc;

use serde_json::Value;

use crate::event::ToolResult;
use crate::host::BoxFuture;
use crate::intent::{Intent, Origin};
use crate::prepare_context::PrepareContext;
use crate::registry::{Registry, RegistryError};
use crate::run_context::RunContext;
use crate::tool::{AnyTool, ToolDefinition, ToolError};

type Prepare = dyn Fn(&PrepareContext) -> Result<Intent, ToolError> + Send + Sync;
type Run = dyn Fn(Arc<Value>, RunContext) -> BoxFuture<'static, Result<ToolResult, ToolError>>
    + Send
    + Sync;

/// A tool made from a definition and a closure.
///
/// ```
/// use serde_json::json;
/// use std::sync::Arc;
/// use toolcall::{CustomTool, ToolDefinition, Registry};
///
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// let definition = ToolDefinition::new("weather", "Returns the weather of a city.", schema);
/// let tool = CustomTool::new(definition, |input, _context| async move {
///     Ok(format!("sunny in {}", input["city"]))
/// });
/// let mut registry = Registry::new();
/// registry.add_any(Arc::new(tool))?;
/// # Ok::<(), toolcall::RegistryError>(())
/// ```
pub struct CustomTool {
    definition: ToolDefinition,
    prepare: Option<Box<Prepare>>,
    run: Box<Run>,
}

impl CustomTool {
    /// Creates a tool that runs this closure with the checked input.
    pub fn new<F, Fut, R>(definition: ToolDefinition, run: F) -> Self
    where
        F: Fn(Arc<Value>, RunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
        R: Into<ToolResult>,
    {
        let run = Arc::new(run);
        let run = move |input, context| -> BoxFuture<'static, _> {
            let run = run.clone();
            Box::pin(async move { run(input, context).await.map(Into::into) })
        };
        Self {
            definition,
            prepare: None,
            run: Box::new(run),
        }
    }

    /// Sets the closure that states the intent. Without one the intent is inferred and may touch
    /// anything.
    pub fn preparing(
        mut self,
        prepare: impl Fn(&PrepareContext) -> Result<Intent, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Some(Box::new(prepare));
        self
    }
}

impl AnyTool for CustomTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn prepare<'a>(
        &'a self,
        context: &'a PrepareContext,
    ) -> BoxFuture<'a, Result<Intent, ToolError>> {
        let intent = match &self.prepare {
            Some(prepare) => prepare(context),
            None => Ok(context.infer()),
        };
        Box::pin(std::future::ready(intent))
    }

    fn run<'a>(
        &'a self,
        input: Arc<Value>,
        context: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        (self.run)(input, context.clone())
    }
}

/// Wraps an agent's own `call_tool(name, input)`, so that its calls are judged and recorded without
/// changing it.
pub fn around<F, Fut, R>(
    definitions: impl IntoIterator<Item = ToolDefinition>,
    call_tool: F,
) -> Result<Registry, RegistryError>
where
    F: Fn(Arc<str>, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: Into<ToolResult>,
{
    let call_tool = Arc::new(call_tool);
    let mut registry = Registry::new();
    for mut definition in definitions {
        definition.origin = Origin::Agent;
        let (call_tool, name) = (call_tool.clone(), definition.name.clone());
        let run = move |input, _context| call_tool(name.clone(), Arc::unwrap_or_clone(input));
        registry.add_any(Arc::new(CustomTool::new(definition, run)))?;
    }
    Ok(registry)
}
