//! The input of a call from the command line: `key=value`, or JSON as a whole.
//! How pairs are read is the agent's to say; whether they fit is checked with the call.

use anyhow::Context as _;
use serde_json::Value;
use toolcall::Registry;
use toolcall_agent::pairs;

use crate::args::Request;

/// The input that was given.
pub(super) fn read(request: &Request, tools: &Registry) -> anyhow::Result<Value> {
    if let Some(text) = &request.json {
        return serde_json::from_str(text)
            .context("`--json` takes one JSON object, such as '{\"path\": \"README.md\"}'");
    }
    let schema = tools
        .definition(&request.tool)
        .map(|definition| &*definition.input_schema);
    Ok(pairs::read(&request.values, schema).map(Value::Object)?)
}
