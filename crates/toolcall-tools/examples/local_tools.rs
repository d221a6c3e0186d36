//! The built-in tools on this machine: one call of `list_directory` in the current folder.
//! It reads and changes nothing else.

use serde_json::json;
use toolcall::{AskDangerous, Engine, Registry, ToolRequest};
use toolcall_tools::command::Supervisor;
use toolcall_tools::{Toolset, ToolsetConfig};

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() -> Done {
    // First in `main`: a process that was started to supervise a command does that and never returns.
    let supervisor = Supervisor::enter()?;
    tokio::runtime::Runtime::new()?.block_on(list(supervisor))
}

async fn list(supervisor: Supervisor) -> Done {
    let folder = std::env::current_dir()?;
    let state = std::env::temp_dir().join("toolcall-example");
    let mut settings = ToolsetConfig::new(vec![folder.clone()], state);
    settings.supervisor = Some(supervisor);
    let kit = Toolset::open(settings)?;
    let mut tools = Registry::new();
    kit.add_to(&mut tools)?;
    let engine = Engine::builder(tools).cwd(folder).host(kit.host());
    let engine = engine.policy(AskDangerous).build();
    let request = ToolRequest::new("list_directory", json!({"path": "."}));
    println!("{:#?}", engine.run(request).await.for_model().content);
    kit.close().await;
    Ok(())
}
