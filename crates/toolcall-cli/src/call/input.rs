//! Reads the input of a call from the command line: `key=value` pairs, or one JSON object.
//! `toolcall_agent::pairs` parses the pairs; the engine checks them against the schema.

use anyhow::Context as _;
use serde_json::Value;
use toolcall::Registry;
use toolcall_agent::pairs;

use crate::args::CallArgs;

/// Returns the input.
pub(super) fn read(args: &CallArgs, tools: &Registry) -> anyhow::Result<Value> {
    if let Some(text) = &args.json {
        return serde_json::from_str(text)
            .context("`--json` takes one JSON object, such as '{\"path\": \"README.md\"}'");
    }
    let schema = tools
        .definition(&args.tool)
        .map(|definition| &*definition.input_schema);
    Ok(pairs::read(&args.values, schema).map(Value::Object)?)
}
