//! Findings: what is wrong with a stream of tool calls, each by a named rule.
//! It must not decide what to do about a finding.

use std::fmt;

use serde_json::Value;
use toolcall::CallId;
use toolcall::text::clean_line;

/// A violation of a rule in a stream of tool calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: LintRule,
    /// The call it is about, if that is known.
    pub call: Option<CallId>,
    /// The index of its message in the stream, if there is a stream.
    pub frame: Option<usize>,
    /// What was found, on one clean line.
    pub message: String,
}

impl Finding {
    /// Creates a finding without a place in a stream.
    pub(crate) fn new(rule: LintRule, call: Option<CallId>, message: impl Into<String>) -> Self {
        Self {
            rule,
            call,
            frame: None,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(frame) = self.frame {
            write!(f, "#{frame} ")?;
        }
        write!(f, "{}: ", self.rule)?;
        if let Some(call) = &self.call {
            write!(f, "{}: ", quoted(call.as_str()))?;
        }
        f.write_str(&self.message)
    }
}

/// Defines each rule once: its variant, its name and its explanation.
macro_rules! rules {
    ($($variant:ident $name:literal $explanation:literal)*) => {
        /// A rule for a stream of v1 tool calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum LintRule {
            $(#[doc = $explanation] $variant,)*
        }

        impl LintRule {
            /// Every rule: first those about one message, then those about the order of messages.
            pub const ALL: &'static [LintRule] = &[$(LintRule::$variant),*];

            /// Returns the name in kebab case.
            pub fn name(self) -> &'static str {
                match self { $(LintRule::$variant => $name,)* }
            }

            /// Returns one line: what is wrong, its consequence, what to do instead.
            pub fn explain(self) -> &'static str {
                match self { $(LintRule::$variant => $explanation,)* }
            }
        }
    };
}

rules! {
    ContentShape "content-shape"
        "a content item has a shape that v1 does not know, and clients drop it without a word; wrap blocks as {\"type\":\"content\",\"content\":{…}} and complete each item"
    BadField "bad-field"
        "a member has the wrong JSON type, and clients read it as missing; send the type that the schema names"
    UnknownStatus "unknown-status"
        "v1 knows pending, in_progress, completed and failed; any other status is ignored, and the call seems to stand still"
    UnknownKind "unknown-kind"
        "v1 knows read, edit, delete, move, search, execute, think, fetch, switch_mode and other; clients show anything else as other"
    UnknownUpdate "unknown-update"
        "`sessionUpdate` names no update of v1, and clients refuse or ignore the message; extensions belong into `_meta` or a method of their own"
    NestedToolCall "nested-tool-call"
        "the call stands in `update.toolCall`, where clients find neither id nor title; in v1 its members stand in `update` itself"
    NoToolCallId "no-tool-call-id"
        "a report without a `toolCallId` that is text belongs to no call, and clients cannot show it"
    NoTitle "no-title"
        "a call without a title is an empty line for people; say in a few words what it does, and for a command the command itself"
    RelativePath "relative-path"
        "every path must be absolute; an editor does not know the folder that a relative one starts from and opens nothing"
    BadLocation "bad-location"
        "a location is a path and, in a member of its own, a line that counts from 1; editors that follow along cannot use `file:12` or line 0"
    BadPlan "bad-plan"
        "an entry of the plan lacks its text or has a status or priority that v1 does not know; the whole plan may be refused for it"
    TooMany "too-many"
        "more was sent than is worth keeping; what was left out is counted here"
    RanUnallowed "ran-unallowed"
        "the call was reported as running or completed although the answer was no, or was not there yet; nothing may run before its permission"
    Late "late"
        "something came after the final status, and clients drop it or revive the call; a final status is the last word on a call"
    AnnouncedFirst "announced-first"
        "a `tool_call_update` came for an id that no `tool_call` had announced, and strict clients drop it; send `tool_call` first"
    AnnouncedTwice "announced-twice"
        "`tool_call` came twice for one id, and clients show two calls or lose the first; use `tool_call_update` for changes and a new id for a new call"
    OneEnding "one-ending"
        "the call has no final status by the end of the turn, and its spinner turns for ever; send completed or failed for every call before the turn ends, also after a cancel"
    Started "started"
        "the call completed, or printed, and was not in_progress before, so nobody could see it run; send in_progress when it starts"
    AskAfterCall "ask-after-call"
        "permission was asked for a call that was not announced, and people decide about something that they cannot see; send `tool_call` first"
    PermissionHidesCommand "permission-hides-command"
        "the permission request does not repeat the command, and people may allow what they have not read; put it into the title, `rawInput` or `content` of the request"
    PermissionHidesDiff "permission-hides-diff"
        "the permission request does not repeat the diff, and people may allow a change that they have not seen; put every diff into the `content` of the request"
    EmptyCompletion "empty-completion"
        "the call completed with nothing in `content`, and people see no result; say there what came of it, if only that there was no output"
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The most findings about one message that are reported; the rest are counted.
const MAX_FINDINGS: usize = 64;

/// Collects the findings about one message.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    call: Option<CallId>,
    found: Vec<Finding>,
    omitted: usize,
}

impl Findings {
    /// Creates an empty collection about this call.
    pub(crate) fn about(call: &CallId) -> Self {
        Self {
            call: Some(call.clone()),
            ..Self::default()
        }
    }

    /// Adds a finding. The message is built only if the finding is kept.
    pub(crate) fn note<M: Into<String>>(&mut self, rule: LintRule, message: impl FnOnce() -> M) {
        if self.found.len() == MAX_FINDINGS {
            self.omitted += 1;
            return;
        }
        let finding = Finding::new(rule, self.call.clone(), message());
        self.found.push(finding);
    }

    /// Whether a finding of this rule was kept.
    pub(crate) fn has(&self, rule: LintRule) -> bool {
        self.found.iter().any(|finding| finding.rule == rule)
    }

    /// Adds a finding about a member of the wrong type.
    pub(crate) fn bad_field(&mut self, member: &str, value: &Value, wanted: &str) {
        self.note(LintRule::BadField, || {
            format!("{} is {}, not {wanted}", quoted(member), type_of(value))
        });
    }

    /// Returns all findings, with a last one that counts those that were not kept.
    pub(crate) fn into_vec(mut self) -> Vec<Finding> {
        if self.omitted > 0 {
            let noun = if self.omitted == 1 {
                "finding"
            } else {
                "findings"
            };
            let message = format!("{} more {noun} on this message", self.omitted);
            self.found
                .push(Finding::new(LintRule::TooMany, self.call, message));
        }
        self.found
    }
}

/// Quotes foreign text for a message: short, clean and in backticks.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", clean_line(text, 80))
}

/// Returns the JSON type of a value, with its article.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use expect_test::expect;

    use super::*;

    #[test]
    fn rules_have_unique_names_and_one_line_explanations() {
        let names: HashSet<_> = LintRule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), LintRule::ALL.len());
        for rule in LintRule::ALL {
            let is_kebab = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(rule.name().chars().all(is_kebab), "{rule}");
            assert!(!rule.explain().is_empty() && !rule.explain().contains("\n"));
        }
    }

    #[test]
    fn a_finding_is_one_clean_line() {
        let mut findings = Findings::about(&CallId::new("call\n1"));
        findings.bad_field("ti\u{202e}tle", &Value::Null, "a string");
        let [mut finding] = <[Finding; 1]>::try_from(findings.into_vec()).unwrap();
        expect![[r"bad-field: `call 1`: `ti\u{202e}tle` is null, not a string"]]
            .assert_eq(&finding.to_string());
        finding.frame = Some(7);
        finding.call = None;
        expect![[r"#7 bad-field: `ti\u{202e}tle` is null, not a string"]]
            .assert_eq(&finding.to_string());
    }

    #[test]
    fn many_findings_are_counted() {
        let mut findings = Findings::default();
        for _ in 0..MAX_FINDINGS + 3 {
            findings.note(LintRule::ContentShape, || "again");
        }
        let all = findings.into_vec();
        assert_eq!(all.len(), MAX_FINDINGS + 1);
        expect!["too-many: 3 more findings on this message"]
            .assert_eq(&all[MAX_FINDINGS].to_string());
    }
}
