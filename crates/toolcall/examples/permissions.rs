//! Your own permissions: a policy that judges calls, and an approver that answers its questions.
//! The tools do not know about either.

use std::sync::Arc;

use serde_json::json;
use toolcall::{
    Answer, CustomTool, Engine, Intent, Judge, Kind, Outcome, Question, Registry, SessionContext,
    ToolDefinition, ToolRequest, Touch, Verdict,
};

/// Allows reads inside the project; the user decides about the rest.
fn careful(intent: &Intent, context: &SessionContext) -> Verdict {
    let is_read = |touch: &Touch| matches!(touch, Touch::Reads(path) if context.contains(path));
    if intent.touches.iter().all(is_read) {
        Verdict::allow("reads")
    } else {
        Verdict::ask("everything-else", intent)
    }
}

/// Prints the question and answers it: "always" to the first, so that the second is not asked.
async fn answer(question: Arc<Question>) -> Answer {
    println!("  may `{}`?", question.subject.intent.title);
    for rule in &question.offers {
        println!("  always would be: {}", rule.text);
    }
    match question.offers.first() {
        Some(rule) => Answer::AllowAlways(rule.clone()),
        None => Answer::reject_because("there is no rule to keep"),
    }
}

/// A tool that states a touch and then does nothing.
fn tool(name: &str, kind: Kind, touch: Touch) -> Arc<CustomTool> {
    let definition = ToolDefinition::new(name, "For this example.", json!({"type": "object"}));
    let title = name.replace('_', " ");
    let tool = CustomTool::new(definition, |_input, _context| async { Ok("done") });
    Arc::new(tool.preparing(move |_context| Ok(Intent::new(kind, &*title).touching(touch.clone()))))
}

fn judge(outcome: &Outcome) -> String {
    match outcome.call.decision().map(|decision| &decision.by) {
        Some(Judge::Rule(rule)) => format!("the rule `{rule}`"),
        Some(Judge::Person(_)) => "the user".to_owned(),
        Some(Judge::Unseen) | None => "a foreign agent".to_owned(),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tools = Registry::new();
    let notes = "/project/notes.md";
    tools.add_any(tool("read_notes", Kind::Read, Touch::Reads(notes.into())))?;
    tools.add_any(tool("write_notes", Kind::Edit, Touch::Writes(notes.into())))?;
    let engine = Engine::builder(tools)
        .cwd("/project")
        .policy(careful)
        .approver(answer)
        .build();

    for name in ["read_notes", "write_notes", "write_notes"] {
        println!("{name}");
        let outcome = engine.run(ToolRequest::new(name, json!({}))).await;
        println!(
            "  {}, decided by {}",
            outcome.ending().name(),
            judge(&outcome)
        );
    }
    Ok(())
}
