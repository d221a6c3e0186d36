//! A server's question to the person, carried by the call that it is about.
//! Only plain forms are carried; an address is never opened, and nothing is answered for the person.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use toolcall::{Form, FormAnswer, RunContext};

/// Asks, and gives the answer as the protocol wants it.
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
