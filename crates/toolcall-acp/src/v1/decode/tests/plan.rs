//! Plans, good and bad.
//! It must not test calls.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::super::decode_plan;

#[test]
fn plans_are_read_entry_by_entry() {
    let check = |update: Value, expected: Expect| {
        let text = match decode_plan(&update) {
            Ok(decoded) => {
                let entries = decoded
                    .plan
                    .entries
                    .iter()
                    .map(|entry| format!("{entry:?}\n"));
                let found = decoded
                    .findings
                    .iter()
                    .map(|finding| format!("! {finding}\n"));
                entries.chain(found).collect()
            }
            Err(finding) => format!("refused: {finding}\n"),
        };
        expected.assert_eq(&text);
    };
    let plan = |entries: Value| json!({"sessionUpdate": "plan", "entries": entries});
    check(
        plan(json!([
            {"content": "a", "priority": "high", "status": "completed"},
            {"content": "b", "priority": "urgent", "status": "in_progress"},
            {"content": "c", "priority": "low", "status": "cancelled"},
            {"content": "d", "status": 1}, {"priority": "low"}, 7
        ])),
        expect![[r#"
            PlanEntry { content: "a", status: Completed, priority: High }
            PlanEntry { content: "b", status: InProgress, priority: Medium }
            PlanEntry { content: "c", status: Pending, priority: Low }
            PlanEntry { content: "d", status: Pending, priority: Medium }
            ! bad-plan: a plan has no priority `urgent`
            ! bad-plan: a plan has no status `cancelled`
            ! bad-plan: a status is a number, not a string
            ! bad-plan: an entry has no `priority`
            ! bad-plan: an entry without its text was left out
            ! bad-plan: an entry without its text was left out
        "#]],
    );
    check(plan(json!([])), expect![[r#""#]]);
    check(
        plan(json!({})),
        expect![[r#"
        refused: bad-plan: `entries` is an object, not a list
    "#]],
    );
    check(
        json!({"sessionUpdate": "plan"}),
        expect![[r#"
        refused: bad-plan: the plan has no `entries`
    "#]],
    );
    check(
        json!({"sessionUpdate": "tool_call", "entries": []}),
        expect![[r#"
            refused: unknown-update: `tool_call` is no plan
        "#]],
    );
    check(
        json!(null),
        expect![[r#"
            refused: unknown-update: this is no plan
        "#]],
    );
}
