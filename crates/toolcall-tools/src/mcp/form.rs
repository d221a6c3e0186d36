//! Passes a server's elicitation form to the user, as part of the call that is running.
//! It opens no URL and answers nothing for the user.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use toolcall::{Form, FormAnswer, RunContext};

/// Asks the user and returns the answer as an MCP result.
pub(super) async fn elicit(
    server: &str,
    request: ElicitRequestParams,
    scope: &RunContext,
) -> ElicitResult {
    let Some(form) = form(server, request) else {
        return ElicitResult::new(ElicitationAction::Decline);
    };
    match scope.elicit(form).await {
        FormAnswer::Accepted(values) => ElicitResult::new(ElicitationAction::Accept)
            .with_content(Value::Object(values.into_map())),
        FormAnswer::Declined { .. } => ElicitResult::new(ElicitationAction::Decline),
        FormAnswer::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}

fn form(server: &str, request: ElicitRequestParams) -> Option<Form> {
    match request {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema).ok()?;
            Form::read(server, &message, &schema).ok()
        }
        ElicitRequestParams::UrlElicitationParams { .. } => None,
        _unknown => None,
    }
}
