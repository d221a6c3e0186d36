//! Your own tool: a name, a description, an input, and a `run` function.
//! It shows the minimum; the example `permissions` shows how calls are judged.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcall::{AllowAll, Engine, Registry, RunContext, Tool, ToolError, ToolRequest};

#[derive(Deserialize, JsonSchema)]
struct Text {
    /// The text whose words are counted.
    text: String,
}

struct CountWords;

impl Tool for CountWords {
    const NAME: &'static str = "count_words";
    const DESCRIPTION: &'static str = "Counts the words of a text.";
    type Input = Text;
    type Output = String;

    async fn run(&self, input: Text, _context: &RunContext) -> Result<String, ToolError> {
        Ok(format!("{} words", input.text.split_whitespace().count()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tools = Registry::new();
    tools.add(CountWords)?;
    let engine = Engine::builder(tools).policy(AllowAll).build();

    let input = json!({"text": "one call, one ending"});
    let outcome = engine.run(ToolRequest::new("count_words", input)).await;
    println!("{}: {:?}", outcome.call.title(), outcome.ending());
    println!("the model gets {:?}", outcome.for_model().content);

    let outcome = engine
        .run(ToolRequest::new("count_words", json!({"txt": 7})))
        .await;
    println!("{}: {:?}", outcome.call.title(), outcome.ending());
    Ok(())
}
