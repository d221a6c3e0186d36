//! `todo_write`: replaces the session's plan.
//! It reports every step that it left out or changed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcall::text::clean_line;
use toolcall::{
    Intent, Kind, Plan, PlanEntry, PlanStatus, PrepareContext, Priority, RunContext, Tool,
    ToolError, ToolResult,
};

use super::naming::counted;

/// Replaces the session's plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct TodoWrite;

/// What [`TodoWrite`] takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWriteInput {
    /// The whole plan, in order; it replaces the one before. An empty list clears it.
    pub todos: Vec<TodoEntry>,
}

/// One step, as leniently as models write it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TodoEntry {
    /// What is to be done, in one line.
    #[serde(default)]
    pub content: Option<String>,
    /// `pending`, `in_progress` or `completed`; pending if left out.
    #[serde(default)]
    pub status: Option<String>,
    /// `high`, `medium` or `low`; medium if left out.
    #[serde(default)]
    pub priority: Option<String>,
}

/// The limits of a plan: the number of steps, and the graphemes of a step.
const MOST_STEPS: usize = 256;
const LONGEST_STEP: usize = 500;

/// The accepted steps, and remarks about what was left out or changed.
struct ParsedPlan {
    entries: Vec<PlanEntry>,
    remarks: Vec<String>,
}

impl Tool for TodoWrite {
    const NAME: &'static str = "todo_write";
    const DESCRIPTION: &'static str = "Writes the plan that the person sees: every step with its status. Hand over the \
                                       whole list each time; it replaces the one before. Keep one step in progress.";
    const KIND: Option<Kind> = Some(Kind::Think);
    type Input = TodoWriteInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &TodoWriteInput,
        _look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        // A plan without any valid step fails; its title counts the steps as given.
        let steps = match take(input).entries.len() {
            0 => input.todos.len(),
            accepted => accepted,
        };
        let title = match steps {
            0 => "Clear the plan".to_owned(),
            steps => format!("Plan: {}", counted(steps as u64, "step", "steps")),
        };
        Ok(Intent::new(Kind::Think, title))
    }

    async fn run(
        &self,
        input: TodoWriteInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let ParsedPlan { entries, remarks } = take(&input);
        if entries.is_empty() && !input.todos.is_empty() {
            let list = remarks.join("; ");
            return Err(ToolError::new(format!(
                "no step could be taken, so the plan stays as it is: {list}"
            )));
        }
        let result = report(&entries, &remarks);
        scope.plan(Plan { entries });
        Ok(result)
    }
}

fn take(input: &TodoWriteInput) -> ParsedPlan {
    let mut plan = ParsedPlan {
        entries: Vec::new(),
        remarks: Vec::new(),
    };
    for (entry, number) in input.todos.iter().zip(1..).take(MOST_STEPS) {
        plan.add(entry, number);
    }
    let more = input.todos.len().saturating_sub(MOST_STEPS);
    if more > 0 {
        plan.remarks.push(format!(
            "a plan has at most {MOST_STEPS} steps; the last {more} were left out"
        ));
    }
    plan
}

impl ParsedPlan {
    fn add(&mut self, entry: &TodoEntry, number: usize) {
        let content = entry.content.as_deref().unwrap_or_default();
        let content = clean_line(content.trim(), LONGEST_STEP);
        if content.is_empty() {
            self.remarks
                .push(format!("step {number} has no `content` and was left out"));
            return;
        }
        let status = self.status(entry, number);
        let priority = self.priority(entry, number);
        self.entries.push(PlanEntry {
            content,
            status,
            priority,
        });
    }

    fn status(&mut self, entry: &TodoEntry, number: usize) -> PlanStatus {
        let given = entry.status.as_deref().unwrap_or("pending");
        status_of(given).unwrap_or_else(|| {
            let given = clean_line(given, 40);
            self.remarks.push(format!(
                "step {number} has the unknown status `{given}` and counts as pending; use pending, in_progress or completed"
            ));
            PlanStatus::Pending
        })
    }

    fn priority(&mut self, entry: &TodoEntry, number: usize) -> Priority {
        let given = entry.priority.as_deref().unwrap_or("medium");
        priority_of(given).unwrap_or_else(|| {
            let given = clean_line(given, 40);
            self.remarks.push(format!(
                "step {number} has the unknown priority `{given}` and counts as medium; use high, medium or low"
            ));
            Priority::Medium
        })
    }
}

fn report(entries: &[PlanEntry], remarks: &[String]) -> ToolResult {
    let count = |status| {
        entries
            .iter()
            .filter(|entry| entry.status == status)
            .count()
    };
    let pending = count(PlanStatus::Pending);
    let in_progress = count(PlanStatus::InProgress);
    let completed = count(PlanStatus::Completed);
    let mut text = match entries.len() {
        0 => "the plan is cleared".to_owned(),
        steps => format!(
            "the plan has {}: {completed} completed, {in_progress} in progress, {pending} pending",
            counted(steps as u64, "step", "steps")
        ),
    };
    for remark in remarks {
        text.push_str("\n- ");
        text.push_str(remark);
    }
    ToolResult::from(text).structured(json!({
        "steps": entries.iter().map(step).collect::<Vec<Value>>(),
        "completed": completed,
        "inProgress": in_progress,
        "pending": pending,
        "remarks": remarks,
    }))
}

fn step(entry: &PlanEntry) -> Value {
    let status = match entry.status {
        PlanStatus::Pending => "pending",
        PlanStatus::InProgress => "in_progress",
        PlanStatus::Completed => "completed",
    };
    let priority = match entry.priority {
        Priority::High => "high",
        Priority::Medium => "medium",
        Priority::Low => "low",
    };
    json!({"content": entry.content, "status": status, "priority": priority})
}

/// Parses a status. Models spell them in several ways.
fn status_of(text: &str) -> Option<PlanStatus> {
    match &*text.trim().to_ascii_lowercase().replace(['-', ' '], "_") {
        "pending" => Some(PlanStatus::Pending),
        "in_progress" => Some(PlanStatus::InProgress),
        "completed" => Some(PlanStatus::Completed),
        _unknown => None,
    }
}

fn priority_of(text: &str) -> Option<Priority> {
    match &*text.trim().to_ascii_lowercase() {
        "high" => Some(Priority::High),
        "medium" => Some(Priority::Medium),
        "low" => Some(Priority::Low),
        _unknown => None,
    }
}
