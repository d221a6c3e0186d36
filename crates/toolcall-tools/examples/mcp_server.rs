//! Uses an MCP server: starts it, lists its tools, and calls each once with minimal input.
//! It allows every call, so use it only with servers that you trust.
//!
//! `cargo run -p toolcall-tools --example mcp_server -- https://example.com/mcp`
//! `cargo run -p toolcall-tools --example mcp_server -- npx -y @modelcontextprotocol/server-everything`

use serde_json::{Map, Value, json};
use toolcall::{AllowAll, Engine, Registry, SharedRegistry, ToolRequest};
use toolcall_tools::mcp::{Address, Launch, Program, ServerEnvironment, ServerSettings, Servers};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((first, rest)) = args.split_first() else {
        println!("name a server: its address, or its command");
        return Ok(());
    };
    let launch: Launch = if first.starts_with("http") {
        Address::new(first.parse()?, []).into()
    } else {
        Program::new(first, rest.iter().map(String::as_str), []).into()
    };
    let surroundings = ServerEnvironment::new(vec![std::env::current_dir()?], std::env::vars_os());
    let registry = SharedRegistry::new(Registry::new());
    let settings = vec![ServerSettings::new("server", launch)];
    let servers = Servers::new(settings, &surroundings, registry.clone())?;
    servers.start();
    servers.settled().await;
    for status in servers.status() {
        println!(
            "{:?}, protocol {}, {}",
            status.state, status.protocol, status.server
        );
        println!("{}", status.notes.join("\n"));
    }
    let engine = Engine::builder(registry.clone()).policy(AllowAll).build();
    for tool in registry.snapshot().definitions() {
        let request = ToolRequest::new(tool.name.clone(), minimal_input(&tool.input_schema));
        let outcome = engine.run(request).await;
        println!("{}: {:?}", tool.name, outcome.for_model().content);
    }
    servers.close().await;
    Ok(())
}

/// Returns the smallest input that matches a common schema.
fn minimal_input(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let members = required.filter_map(|name| {
        let name = name.as_str()?;
        Some((name.to_owned(), value_of(&schema["properties"][name])))
    });
    Value::Object(members.collect::<Map<_, _>>())
}

fn value_of(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => minimal_input(schema),
        Some(_) | None => json!("text"),
    }
}
