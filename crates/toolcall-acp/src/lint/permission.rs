//! The options of a permission request, and what an answer to it means.
//! It must not take anything for a yes that is not plainly one.

use serde_json::Value;
use toolcall::Effect;

/// The options that were offered.
#[derive(Debug)]
pub(super) struct Permission {
    /// The ids of those that allow.
    allowing: Vec<String>,
}

impl Permission {
    /// Reads the options of a request.
    pub(super) fn of(options: &Value) -> Self {
        let options = options.as_array().into_iter().flatten();
        let allows = |option: &&Value| {
            let kind = option["kind"].as_str();
            matches!(kind, Some("allow_once" | "allow_always"))
        };
        let id = |option: &Value| option["optionId"].as_str().map(str::to_owned);
        Self {
            allowing: options.filter(allows).filter_map(id).collect(),
        }
    }

    /// What an answer means. An option that was not offered, a cancel and an error are no yes.
    pub(super) fn answer(&self, result: &Value) -> Effect {
        let outcome = &result["outcome"];
        let chosen = outcome["optionId"].as_str();
        let is_selected = outcome["outcome"] == "selected";
        let allows = |chosen: &str| self.allowing.iter().any(|id| id == chosen);
        match is_selected && chosen.is_some_and(allows) {
            true => Effect::Allow,
            false => Effect::Deny,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_option_that_allows_is_a_yes() {
        let permission = Permission::of(&json!([
            {"optionId": "a", "kind": "allow_once"},
            {"optionId": "b", "kind": "allow_always"},
            {"optionId": "c", "kind": "reject_once"},
            {"optionId": "d", "kind": "allow_it_all"},
            {"kind": "allow_once"},
        ]));
        let answer = |outcome: Value| permission.answer(&json!({ "outcome": outcome }));
        for yes in ["a", "b"] {
            let chosen = json!({"outcome": "selected", "optionId": yes});
            assert_eq!(answer(chosen), Effect::Allow);
        }
        for no in ["c", "d", "e", ""] {
            let chosen = json!({"outcome": "selected", "optionId": no});
            assert_eq!(answer(chosen), Effect::Deny);
        }
        assert_eq!(answer(json!({"outcome": "cancelled"})), Effect::Deny);
        assert_eq!(
            answer(json!({"outcome": "chosen", "optionId": "a"})),
            Effect::Deny
        );
        assert_eq!(permission.answer(&Value::Null), Effect::Deny);
    }
}
