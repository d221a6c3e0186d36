//! A tool of an MCP server, as a tool of the registry: it states its intent and sends the call to the server.
//! It ignores the server's claims about safety, and runs only the definition that the user was shown.

use std::sync::Arc;

use serde_json::Value;
use toolcall::text::{clean_block, clean_line};
use toolcall::{
    AnyTool, BoxFuture, Intent, PrepareContext, RunContext, ToolDefinition, ToolError, ToolResult,
    Touch,
};

use super::call::{McpCallError, ToolCallRequest};
use super::decode::capped;
use super::listing::OfferedTool;
use super::result::result_of;
use super::server::McpServer;

/// How many bytes of a description or provider the user is shown.
const LONGEST_SHOWN: usize = 1_500;

/// A tool of a server.
pub(super) struct McpTool {
    definition: ToolDefinition,
    server: Arc<McpServer>,
    offered: Arc<OfferedTool>,
}

impl McpTool {
    /// Creates a tool with this name in the registry.
    pub(super) fn new(name: Arc<str>, server: Arc<McpServer>, offered: Arc<OfferedTool>) -> Self {
        let mut definition = offered.definition.clone();
        definition.native_name = Some(definition.name);
        definition.name = name;
        Self {
            definition,
            server,
            offered,
        }
    }

    fn intent(&self, look: &PrepareContext) -> Intent {
        let mut intent = look.infer();
        let reaches = format!("mcp:{}/{}", self.server.name(), self.offered.native());
        intent.touches.retain(|touch| *touch != Touch::Unknown);
        intent.touches.insert(0, Touch::Reaches(reaches.into()));
        let title = match &self.offered.display.title {
            Some(title) => title,
            None => &intent.title,
        };
        intent.title = format!("{}: {title}", self.server.name());
        intent.showing(self.introduction())
    }

    /// Returns the text for the user: the tool, its server, and what the server says about it.
    fn introduction(&self) -> String {
        let native = clean_line(self.offered.native(), 100);
        let provider = clean_line(&self.server.provider, LONGEST_SHOWN);
        let mut text = format!(
            "The tool `{native}` of the MCP server `{}`: {provider}",
            self.server.name()
        );
        let description = self.definition.description.trim();
        if !description.is_empty() {
            let description = clean_block(&capped(description, LONGEST_SHOWN));
            text += &format!("\n\nThe server says of it: {description}");
        }
        let claims = self.claims();
        if !claims.is_empty() {
            text += &format!(
                "\n\nThe server claims (nobody checked): {}",
                claims.join(", ")
            );
        }
        text
    }

    fn claims(&self) -> Vec<&'static str> {
        let claims = self.definition.annotations;
        let said = |claim: Option<bool>, yes: &'static str, no: &'static str| {
            claim.map(|is_so| if is_so { yes } else { no })
        };
        let all = [
            said(claims.read_only, "it changes nothing", "it changes things"),
            said(claims.destructive, "it may destroy", "it destroys nothing"),
            said(
                claims.open_world,
                "it reaches the outside",
                "it stays inside",
            ),
        ];
        all.into_iter().flatten().collect()
    }

    async fn call(&self, input: Arc<Value>, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let connection = tokio::select! {
            connected = self.server.connected() => connected.map_err(ToolError::new)?,
            () = scope.cancelled() => return Err(ToolError::new("the call was stopped")),
        };
        self.require_unchanged()?;
        let request = ToolCallRequest {
            tool: self.offered.native(),
            input,
            scope,
        };
        match connection.call(request).await {
            Ok(answer) => {
                self.server.worked();
                result_of(answer)
            }
            Err(McpCallError::Failed(why)) => Err(ToolError::new(why)),
            Err(McpCallError::ConnectionClosed) => {
                Err(ToolError::new(self.server.why_gone(&connection).await))
            }
        }
    }

    /// Fails if the server changed or removed the tool after the call was prepared.
    fn require_unchanged(&self) -> Result<(), ToolError> {
        if self.server.offers(&self.offered) {
            Ok(())
        } else {
            Err(ToolError::new(format!(
                "the server `{}` has changed or removed `{}` since this call was prepared; call it \
                 again to see what it is now",
                self.server.name(),
                self.offered.native()
            )))
        }
    }
}

impl AnyTool for McpTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn prepare<'a>(&'a self, look: &'a PrepareContext) -> BoxFuture<'a, Result<Intent, ToolError>> {
        Box::pin(std::future::ready(Ok(self.intent(look))))
    }

    fn run<'a>(
        &'a self,
        input: Arc<Value>,
        scope: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(self.call(input, scope))
    }
}
