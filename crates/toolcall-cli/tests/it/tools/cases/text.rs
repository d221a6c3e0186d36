//! Cases of the tools that only write text.
//! They touch nothing.

use expect_test::expect;
use serde_json::json;

use super::CallCase;

pub(super) fn cases() -> Vec<CallCase> {
    vec![
        CallCase::succeeds(
            "thinking",
            json!({"thought": "First the water.\nThen the tea."}),
            expect![[r#"
                  title: Think: First the water.
                  kind: think
                  rawInput: {"thought":"First the water.\nThen the tea."}
                  announced as: Think: First the water. Then the tea.
                pending
                in_progress
                completed
                  | First the water.
                  | Then the tea.
                  | kept a thought of 30 characters in 2 lines
                  rawOutput: {"characters":30,"lines":2}
            "#]],
        ),
        CallCase::fails(
            "thinking",
            json!({"though": "First the water."}),
            expect![[r#"
                  title: Think
                  kind: think
                  rawInput: {"though":"First the water."}
                pending
                failed
                  | the input does not fit the schema: `/though` is not known; `/thought` is missing
            "#]],
        ),
        CallCase::fails(
            "thinking",
            json!({"thought": " "}),
            expect![[r#"
                  title: Think:  
                  kind: think
                  rawInput: {"thought":" "}
                pending
                failed
                  | `thought` is empty; write one, or go on without
            "#]],
        ),
        CallCase::succeeds(
            "todo_write",
            json!({"todos": [{"content": "Boil water", "status": "completed"}, {"content": "Add tea", "status": "in_progress", "priority": "high"}]}),
            expect![[r#"
                  title: Plan: 2 steps
                  kind: think
                  rawInput: {"todos":[{"content":"Boil water","status":"completed"},{"content":"Add tea","status":"in_progress","priority":"high"}]}
                pending
                in_progress
                completed
                  | the plan has 2 steps: 1 completed, 1 in progress, 0 pending
                  rawOutput: {"steps":[{"content":"Boil water","status":"completed","priority":"medium"},{"content":"Add tea","status":"in_progress","priority":"high"}],"completed":1,"inProgress":1,"pending":0,"remarks":[]}
            "#]],
        ),
        CallCase::fails(
            "todo_write",
            json!({"todos": [{"status": "pending"}]}),
            expect![[r#"
                  title: Plan: 1 step
                  kind: think
                  rawInput: {"todos":[{"status":"pending"}]}
                pending
                in_progress
                failed
                  | no step could be taken, so the plan stays as it is: step 1 has no `content` and was left out
            "#]],
        ),
    ]
}
