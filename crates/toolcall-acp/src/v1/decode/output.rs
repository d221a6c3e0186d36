//! Decodes output: from a code fence, or from a terminal that the agent fills.
//! It must not treat text as output unless it is marked as such.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcall::{Output, ToolCall};

use super::members::{object, text};
use crate::decode::ReportedFields;
use crate::finding::Findings;
use crate::meta;

/// Codex's name for Zed's `terminal_output`.
pub(super) const TERMINAL_OUTPUT_DELTA: &str = "terminal_output_delta";

/// Returns the text inside a code fence; a text without a fence is the output itself.
pub(super) fn printed(block: &str) -> String {
    unfenced(block).unwrap_or(block).to_owned()
}

/// Returns the lines between an opening fence and its closing fence.
pub(super) fn unfenced(block: &str) -> Option<&str> {
    let (first, rest) = block.split_once('\n')?;
    let ticks = first.len() - first.trim_start_matches('`').len();
    let rest = rest.strip_suffix('\n').unwrap_or(rest);
    let inner = rest.rfind('\n').map_or("", |end| &rest[..=end]);
    let last = &rest[inner.len()..];
    let closes = last.len() >= ticks && last.bytes().all(|byte| byte == b'`');
    (ticks >= 3 && !first[ticks..].contains('`') && closes).then_some(inner)
}

/// Returns the output in this report for a terminal that the agent fills.
pub(super) fn from_terminal(
    meta: Option<&Map<String, Value>>,
    findings: &mut Findings,
) -> Option<String> {
    let mut data = |key| text(object(meta?, key, findings)?, "data", findings);
    let printed = data(meta::TERMINAL_OUTPUT).or_else(|| data(TERMINAL_OUTPUT_DELTA));
    printed.map(str::to_owned)
}

/// Returns the final output of a call: as the last report has it, otherwise the known output with `last`.
pub(super) fn at_the_end(
    call: &ToolCall,
    report: &ReportedFields<'_>,
    last: Option<String>,
) -> Arc<Output> {
    let reported = report
        .content
        .as_ref()
        .and_then(|items| items.output.as_ref());
    if let Some(reported) = reported {
        let mut output = Output::new(call.output().budget());
        output.push(reported.as_bytes());
        return Arc::new(output);
    }
    let mut output = call.output().clone();
    if let Some(last) = last {
        Arc::make_mut(&mut output).push(last.as_bytes());
    }
    output
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    fn check(block: &str, expected: Expect) {
        expected.assert_eq(&format!("{:?}", super::unfenced(block)));
    }

    #[test]
    fn a_fence_is_taken_off() {
        check("```\na\nb\n```", expect![[r#"Some("a\nb\n")"#]]);
        check("```console\na\n\n```\n", expect![[r#"Some("a\n\n")"#]]);
        check(
            "````\n```\nin\n```\n````",
            expect![[r#"Some("```\nin\n```\n")"#]],
        );
        check("```\n```", expect![[r#"Some("")"#]]);
    }

    #[test]
    fn what_is_not_one_whole_block_stays() {
        check("plain", expect!["None"]);
        check("```", expect!["None"]);
        check("```\nnever closed", expect!["None"]);
        check("````\nclosed too narrow\n```", expect!["None"]);
        check("```a`b\nno fence\n```", expect!["None"]);
        check("", expect!["None"]);
    }
}
