//! A whole ACP agent on stdio with two tools. It has no model: the first word of a prompt is the
//! tool, the rest its input. Try `count one two three`, and `note buy milk`, which asks the user first.

use std::sync::Arc;

use serde_json::json;
use toolcall::{AskDangerous, Content, CustomTool, Engine, FileEdit, Intent, Kind, ToolDefinition};
use toolcall::{Registry, SessionContext, ToolRequest};
use toolcall_acp::{Prompt, SimpleAgent, StopReason, prompt_text, serve, stdio};

fn definition(name: &str, description: &str) -> ToolDefinition {
    let text = json!({"properties": {"text": {"type": "string"}}, "required": ["text"]});
    ToolDefinition::new(name, description, text)
}

fn count() -> CustomTool {
    let counts = definition("count", "Counts the words of a text.");
    let tool = CustomTool::new(counts, |input, _scope| async move {
        let words = input["text"].as_str().unwrap_or_default();
        Ok(format!("{} words", words.split_whitespace().count()))
    });
    tool.preparing(|_look| Ok(Intent::new(Kind::Think, "Count words")))
}

fn note() -> CustomTool {
    let writes = definition("note", "Writes note.md.");
    let tool = CustomTool::new(writes, |_input, scope| async move {
        for edit in scope.edits() {
            scope.apply(edit).await?;
        }
        Ok("noted")
    });
    tool.preparing(|look| {
        let text = look.input()["text"].as_str().unwrap_or_default();
        let edit = FileEdit::added(look.path("note.md"), format!("{text}\n"));
        Ok(Intent::new(Kind::Edit, "Write note.md").editing(edit))
    })
}

async fn answer(prompt: Arc<Prompt>, content: Vec<Content>) -> StopReason {
    let line = prompt_text(&content);
    let (tool, text) = line.split_once(' ').unwrap_or((&line, ""));
    let call = ToolRequest::new(tool, json!({"text": text}));
    let outcome = prompt.call(call).await;
    prompt.say(outcome.ending().name()).await;
    StopReason::EndTurn
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tools = Registry::new();
    tools.add_any(Arc::new(count()))?;
    tools.add_any(Arc::new(note()))?;
    let (tools, (client, transport)) = (Arc::new(tools), stdio());
    let engine = move |context: SessionContext| Engine::builder(tools.clone()).setting(context);
    let open = move |context| engine(context).policy(AskDangerous);
    let agent = SimpleAgent::new(client.clone(), open, answer);
    Ok(serve(client, transport, Arc::new(agent)).await?)
}
