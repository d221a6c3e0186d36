//! `thinking`: shows a thought of the model to the user.
//! It touches nothing but its own call.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcall::text::{clean_block, clean_line};
use toolcall::{Intent, Kind, PrepareContext, RunContext, Tool, ToolError, ToolResult};

use super::naming::counted;

/// Shows a thought of the model to the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thinking;

/// What [`Thinking`] takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThinkingInput {
    /// The thought, in plain words.
    pub thought: String,
}

const TITLE: usize = 80;

impl Tool for Thinking {
    const NAME: &'static str = "thinking";
    const DESCRIPTION: &'static str = "Keeps a thought where the person can read it: a plan, a doubt, what a result \
                                       means. It changes nothing and finds out nothing new.";
    const KIND: Option<Kind> = Some(Kind::Think);
    type Input = ThinkingInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &ThinkingInput,
        _look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let thought = thought(input)?;
        let first = thought.lines().next().unwrap_or_default();
        let title = format!("Think: {}", clean_line(first, TITLE));
        Ok(Intent::new(Kind::Think, title))
    }

    async fn run(&self, input: ThinkingInput, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let thought = thought(&input)?;
        scope.show(thought.clone());
        let (characters, lines) = (thought.chars().count(), thought.lines().count());
        let said = format!(
            "kept a thought of {} in {}",
            counted(characters as u64, "character", "characters"),
            counted(lines as u64, "line", "lines")
        );
        Ok(ToolResult::from(thought)
            .with(said)
            .structured(json!({"characters": characters, "lines": lines})))
    }
}

fn thought(input: &ThinkingInput) -> Result<String, ToolError> {
    let thought = clean_block(input.thought.trim());
    if thought.is_empty() {
        Err(ToolError::new(
            "`thought` is empty; write one, or go on without",
        ))
    } else {
        Ok(thought)
    }
}
