//! The built-in tools on this machine: lists the current directory with `list_directory`.
//! It changes no file.
//!
//! `cargo run -p toolcall-tools --example local_tools`

use serde_json::json;
use toolcall::{AskDangerous, Engine, Registry, ToolRequest};
use toolcall_tools::command::Supervisor;
use toolcall_tools::{Toolset, ToolsetConfig};

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() -> Done {
    // First in `main`: in a process that was started to supervise a command, this never returns.
    let supervisor = Supervisor::enter()?;
    tokio::runtime::Runtime::new()?.block_on(list(supervisor))
}

async fn list(supervisor: Supervisor) -> Done {
    let dir = std::env::current_dir()?;
    let state = std::env::temp_dir().join("toolcall-example");
    let mut config = ToolsetConfig::new(vec![dir.clone()], state);
    config.supervisor = Some(supervisor);
    let toolset = Toolset::open(config)?;
    let mut tools = Registry::new();
    toolset.add_to(&mut tools)?;
    let engine = Engine::builder(tools).cwd(dir).host(toolset.host());
    let engine = engine.policy(AskDangerous).build();
    let request = ToolRequest::new("list_directory", json!({"path": "."}));
    println!("{:#?}", engine.run(request).await.for_model().content);
    toolset.close().await;
    Ok(())
}
