//! Finds out what a call would do without running it.
//! Nothing is announced, asked, run or stored.

use std::sync::Arc;

use super::Engine;
use super::watchdog::prepare_timeout;
use crate::event::{Ending, Prepared};
use crate::prepare_context::{Gate, PrepareContext};
use crate::request::{ToolRequest, read_input};
use crate::text::{LONGEST_REASON, clean_line};
use crate::tool::ToolError;

impl Engine {
    /// Returns the intent that this request would be judged by, or how the call would end before
    /// that.
    pub async fn dry_run(&self, request: ToolRequest) -> Result<Prepared, Ending> {
        let core = &self.core;
        let (_, input) = read_input(request.input, core.limits.input_bytes);
        let Some(entry) = core.registry.find(&request.tool) else {
            let tools = core.registry.snapshot();
            return Err(Ending::failed(tools.explain_unknown(&request.tool)));
        };
        let input = input.map_err(Ending::failed)?;
        entry.check(&input).map_err(Ending::failed)?;
        let gate = Gate {
            rulebook: core.rulebook.clone(),
            session_context: core.session_context.clone(),
        };
        let context = PrepareContext::new(input.clone(), entry.clone(), core.host.clone(), gate);
        let stating = async {
            let intent = entry.tool.prepare(&context).await?;
            Ok(context.resolve_symlinks(context.complete(intent)).await)
        };
        let limit = core.limits.prepare;
        let stated = tokio::time::timeout(limit, stating).await;
        match stated.unwrap_or_else(|_| Err(prepare_timeout(limit))) {
            Ok(intent) => Ok(Prepared { input, intent }),
            Err(error) => Err(ending(&error)),
        }
    }
}

fn ending(error: &ToolError) -> Ending {
    let reason: Arc<str> = clean_line(error.reason(), LONGEST_REASON).into();
    if error.is_denied() {
        Ending::denied(reason)
    } else {
        Ending::failed(reason)
    }
}
