//! An agent with its own `call_tool`, wrapped without changing it.
//! Every call is announced, judged, timed and ended once; the agent still runs it.

use serde_json::{Value, json};
use toolcall::{AllowAll, Engine, Event, ToolCall, ToolDefinition, ToolRequest, around};

/// The agent's existing dispatch function.
async fn call_tool(name: &str, input: Value) -> Result<String, std::io::Error> {
    match name {
        "weather" => Ok(format!("sunny in {}", input["city"])),
        "stock" => Err(std::io::Error::other("the exchange is closed")),
        other => Err(std::io::Error::other(format!("no tool {other}"))),
    }
}

/// The definitions that it already sends to its model.
fn definitions() -> [ToolDefinition; 2] {
    let city = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    });
    [
        ToolDefinition::new("weather", "The weather of a city.", city),
        ToolDefinition::new("stock", "The price of a stock.", json!({"type": "object"})),
    ]
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = around(definitions(), |name, input| async move {
        Ok(call_tool(&name, input).await?)
    })?;
    let engine = Engine::builder(tools)
        .policy(AllowAll)
        .reader(|call: &ToolCall, event: &Event| println!("  {}: {}", call.title(), event.name()))
        .build();

    let requests = [
        ("weather", json!({"city": "Bern"})),
        ("weather", json!({"town": "Bern"})),
        ("stock", json!({})),
    ];
    for (name, input) in requests {
        println!("{name} {input}");
        let outcome = engine.run(ToolRequest::new(name, input)).await;
        println!("  the model gets {:?}", outcome.for_model().content);
    }
    Ok(())
}
