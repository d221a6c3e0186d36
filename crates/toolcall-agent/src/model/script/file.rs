//! Parses a script from YAML.
//! It reads values; `playback.rs` plays them.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_saphyr::{Location, Spanned};

use super::error::{ScriptError, ScriptFault, fault, from_yaml};
use super::expectation::{CallSelector, Expectation, ExpectedEnding, ExpectedResult};
use super::step::{PlannedCall, ScriptStep, ScriptTurn, StepAction, WritingPace};
use super::written::{
    WrittenCall, WrittenCallSelector, WrittenExpect, WrittenResult, WrittenStep, WrittenStream,
    WrittenUsage,
};
use crate::model::Usage;

const KINDS: &str = "`say`, `think`, `call`, `calls`, `usage`, `pause_ms` or `expect`";
/// What is written slowly without saying how slowly.
const PIECES: usize = 10;
const DELAY: u64 = 50;
/// Ids that the player gives.
const OURS: &str = "script-";

/// The turns of the script in this file.
pub(super) fn read(path: &Path) -> Result<Vec<ScriptTurn>, ScriptError> {
    let text = fs::read_to_string(path).map_err(|source| ScriptError::Read {
        path: path.to_owned(),
        source,
    })?;
    turns(&text).map_err(|fault| ScriptError::File {
        path: path.to_owned(),
        fault,
    })
}

/// The turns of a script.
pub(super) fn turns(text: &str) -> Result<Vec<ScriptTurn>, ScriptFault> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    let written: Spanned<Vec<Spanned<Vec<Spanned<WrittenStep>>>>> =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| from_yaml(&error))?;
    if written.value.is_empty() {
        return Err(fault(written.referenced, "a script has at least one turn"));
    }
    written.value.into_iter().map(turn).collect()
}

fn turn(written: Spanned<Vec<Spanned<WrittenStep>>>) -> Result<ScriptTurn, ScriptFault> {
    let mut written_steps = written.value;
    let first = written_steps.first_mut();
    let when = first.and_then(|first| first.value.when.take());
    // A step that says nothing but when its turn is played is none.
    if when.is_some() && written_steps[0].value.is_empty() {
        written_steps.remove(0);
    }
    if written_steps.is_empty() {
        return Err(fault(written.referenced, "a turn has at least one step"));
    }
    let steps: Result<Vec<ScriptStep>, _> = written_steps.into_iter().map(step).collect();
    let steps = steps?;
    Ok(ScriptTurn { when, steps })
}

fn step(written: Spanned<WrittenStep>) -> Result<ScriptStep, ScriptFault> {
    let (at, step) = (written.referenced, written.value);
    if step.when.is_some() {
        return Err(fault(at, "`when` stands in the first step of a turn only"));
    }
    let slow_at = step.stream.as_ref().map(|stream| stream.referenced);
    let pace = step.stream.map_or(Ok(WritingPace::AT_ONCE), pace)?;
    let one = step.call.map(|call| vec![call]);
    let calls = [one, step.calls].into_iter().flatten();
    let mut deeds: Vec<StepAction> = Vec::new();
    deeds.extend(step.say.map(|text| StepAction::Say(text, pace)));
    deeds.extend(step.think.map(|text| StepAction::Think(text, pace)));
    for calls in calls {
        deeds.push(StepAction::Call(planned(calls, at)?, pace));
    }
    if let (Some(at), true) = (slow_at, deeds.is_empty()) {
        return Err(fault(
            at,
            "`stream` goes with `say`, `think`, `call` or `calls`",
        ));
    }
    deeds.extend(
        step.usage
            .map(|WrittenUsage { used, window }| StepAction::Usage(Usage { used, window })),
    );
    deeds.extend(
        step.pause_ms
            .map(|pause| StepAction::Pause(Duration::from_millis(pause))),
    );
    if let Some(expect) = step.expect {
        deeds.push(StepAction::Expect(expectation(expect)?));
    }
    only(deeds, at)
}

fn only(mut deeds: Vec<StepAction>, at: Location) -> Result<ScriptStep, ScriptFault> {
    let line = usize::try_from(at.line()).unwrap_or(usize::MAX);
    match (deeds.pop(), deeds.is_empty()) {
        (Some(deed), true) => Ok(ScriptStep { line, deed }),
        (Some(_), false) => Err(fault(at, format!("a step has only one of {KINDS}"))),
        (None, _) => Err(fault(at, format!("a step has one of {KINDS}"))),
    }
}

fn pace(written: Spanned<WrittenStream>) -> Result<WritingPace, ScriptFault> {
    let WrittenStream { pieces, delay_ms } = written.value;
    match pieces.unwrap_or(PIECES) {
        0 => Err(fault(written.referenced, "`pieces` is at least 1")),
        pieces => Ok(WritingPace {
            pieces,
            delay: Duration::from_millis(delay_ms.unwrap_or(DELAY)),
        }),
    }
}

fn planned(
    written: Vec<Spanned<WrittenCall>>,
    at: Location,
) -> Result<Vec<PlannedCall>, ScriptFault> {
    if written.is_empty() {
        return Err(fault(at, "`calls` has at least one call"));
    }
    let mut calls: Vec<PlannedCall> = Vec::new();
    for call in written {
        let at = call.referenced;
        let call = planned_one(call)?;
        if call.id.is_some() && calls.iter().any(|other| other.id == call.id) {
            return Err(fault(at, "calls that are made at once have different ids"));
        }
        calls.push(call);
    }
    Ok(calls)
}

fn planned_one(written: Spanned<WrittenCall>) -> Result<PlannedCall, ScriptFault> {
    let (at, call) = (written.referenced, written.value);
    if call.id.as_deref().is_some_and(|id| id.starts_with(OURS)) {
        let reason = format!("ids that begin with `{OURS}` are given to calls without one");
        return Err(fault(at, reason));
    }
    let input = match (call.input, call.text) {
        (Some(_), Some(_)) => return Err(fault(at, "a call has `input` or `text`, not both")),
        (None, Some(text)) => text,
        (Some(input), None) => input.to_string(),
        (None, None) => "{}".to_owned(),
    };
    Ok(PlannedCall {
        id: call.id.map(Arc::from),
        tool: call.tool.into(),
        input,
    })
}

fn expectation(written: Spanned<WrittenExpect>) -> Result<Expectation, ScriptFault> {
    let at = written.referenced;
    match (written.value.prompt, written.value.result) {
        (Some(prompt), None) => Ok(Expectation::Prompt(prompt)),
        (None, Some(result)) => expected(result, at).map(Expectation::Result),
        (Some(_), Some(_)) | (None, None) => {
            Err(fault(at, "`expect` has one of `prompt` or `result`"))
        }
    }
}

fn expected(result: WrittenResult, at: Location) -> Result<ExpectedResult, ScriptFault> {
    let call = match result.call {
        None => CallSelector::Number(1),
        Some(WrittenCallSelector::Number(0)) => return Err(fault(at, "calls are counted from 1")),
        Some(WrittenCallSelector::Number(number)) => CallSelector::Number(number),
        Some(WrittenCallSelector::Id(id)) => CallSelector::Id(id),
    };
    let ending = result.ok.map(|ok| {
        if ok {
            ExpectedEnding::Well
        } else {
            ExpectedEnding::Badly
        }
    });
    Ok(ExpectedResult {
        call,
        ending,
        contains: result.contains,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn fails(text: &str, expected: Expect) {
        expected.assert_eq(&turns(text).expect_err("no script").to_string());
    }

    #[test]
    fn a_name_that_is_wrong_is_answered_with_the_nearest() {
        fails(
            "- - say: a\n  - sya: b\n",
            expect!["line 2, column 5: there is no `sya`; did you mean `say`?"],
        );
        fails(
            "- - call: {tool: t, inputs: {}}\n",
            expect!["line 1, column 21: there is no `inputs`; did you mean `input`?"],
        );
        fails(
            "- - qqq: b\n",
            expect![
                "line 1, column 5: there is no `qqq`; there are `when`, `say`, `think`, `call`, `calls`, `usage`, `pause_ms`, `expect`, `stream`"
            ],
        );
        fails(
            "- - say: a\n    stream: {piece: 3}\n",
            expect!["line 2, column 14: there is no `piece`; did you mean `pieces`?"],
        );
    }

    #[test]
    fn what_a_step_cannot_be_is_said_with_its_place() {
        fails(
            "",
            expect!["line 1, column 1: a script has at least one turn"],
        );
        fails(
            "[]",
            expect!["line 1, column 1: a script has at least one turn"],
        );
        fails(
            "- []",
            expect!["line 1, column 3: a turn has at least one step"],
        );
        fails(
            "- - when: a\n",
            expect!["line 1, column 3: a turn has at least one step"],
        );
        fails(
            "- say: a\n",
            expect![
                "line 1, column 3: a list is wanted here; a script is a list of turns, a turn is a list of steps (`- - say: …`), and `calls` is a list of calls"
            ],
        );
        fails(
            "- - say: a\n    think: b\n",
            expect![
                "line 1, column 5: a step has only one of `say`, `think`, `call`, `calls`, `usage`, `pause_ms` or `expect`"
            ],
        );
        fails(
            "- - say:\n",
            expect![
                "line 1, column 5: a step has one of `say`, `think`, `call`, `calls`, `usage`, `pause_ms` or `expect`"
            ],
        );
        fails(
            "- - say: a\n  - when: b\n    say: c\n",
            expect!["line 2, column 5: `when` stands in the first step of a turn only"],
        );
        fails(
            "- - pause_ms: 1\n    stream: {}\n",
            expect!["line 2, column 13: `stream` goes with `say`, `think`, `call` or `calls`"],
        );
        fails(
            "- - say: a\n    stream: {pieces: 0}\n",
            expect!["line 2, column 13: `pieces` is at least 1"],
        );
        fails(
            "- - pause_ms: soon\n",
            expect!["line 1, column 15: a whole number is wanted here"],
        );
        fails(
            "- - say: 'a\n",
            expect!["line 2, column 1: invalid indentation in multiline quoted scalar"],
        );
    }

    #[test]
    fn what_a_call_or_a_check_cannot_be_is_said_with_its_place() {
        fails(
            "- - call: {input: {}}\n",
            expect!["line 1, column 12: missing field `tool`"],
        );
        fails(
            "- - call: {tool: t, input: {}, text: x}\n",
            expect!["line 1, column 11: a call has `input` or `text`, not both"],
        );
        fails(
            "- - call: {tool: t, id: script-1}\n",
            expect![
                "line 1, column 11: ids that begin with `script-` are given to calls without one"
            ],
        );
        fails(
            "- - calls: []\n",
            expect!["line 1, column 5: `calls` has at least one call"],
        );
        fails(
            "- - calls:\n    - {tool: t, id: a}\n    - {tool: u, id: a}\n",
            expect!["line 3, column 7: calls that are made at once have different ids"],
        );
        fails(
            "- - expect: {}\n",
            expect!["line 1, column 13: `expect` has one of `prompt` or `result`"],
        );
        fails(
            "- - expect: {result: {call: 0}}\n",
            expect!["line 1, column 13: calls are counted from 1"],
        );
        fails(
            "- - expect: {result: {ok: maybe}}\n",
            expect!["line 1, column 27: `true` or `false` is wanted here"],
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("none.yaml");
        let Err(ScriptError::Read { path: named, .. }) = read(&path) else {
            panic!("there is a script");
        };
        assert_eq!(named, path);
        fs::write(&path, "- - sya: a\n").expect("written");
        let Err(ScriptError::File { fault, .. }) = read(&path) else {
            panic!("there is a script");
        };
        assert_eq!((fault.line, fault.column), (1, 5));
    }
}
