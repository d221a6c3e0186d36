//! Plays a turn of a script: deltas, pauses and errors, as the stream of a reply.
//! The steps are computed at once as values; only playing them takes time.

use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use tokio::time::sleep;

use super::step::{PlannedCall, ScriptStep, ScriptTurn, StepAction, WritingPace};
use crate::model::conversation_state::ConversationState;
use crate::model::{Delta, ModelError};

/// One step of playing a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PlaybackStep {
    Told(Delta),
    Pause(Duration),
    /// The reply ends.
    Failed(ModelError),
}

/// Returns the steps of the next reply of this turn.
pub(super) fn of(turn: &ScriptTurn, place: &ConversationState<'_>) -> Vec<PlaybackStep> {
    let mut beats = Vec::new();
    for step in turn.answer(place.answers) {
        match step_beats(step, place) {
            Ok(more) => beats.extend(more),
            Err(error) => {
                beats.push(PlaybackStep::Failed(error));
                break;
            }
        }
    }
    beats
}

/// Plays steps with their pauses.
pub(super) fn play(beats: Vec<PlaybackStep>) -> BoxStream<'static, Result<Delta, ModelError>> {
    stream::unfold(beats.into_iter(), next).boxed()
}

async fn next(
    mut beats: IntoIter<PlaybackStep>,
) -> Option<(Result<Delta, ModelError>, IntoIter<PlaybackStep>)> {
    loop {
        match beats.next()? {
            PlaybackStep::Told(delta) => return Some((Ok(delta), beats)),
            PlaybackStep::Pause(pause) => sleep(pause).await,
            PlaybackStep::Failed(error) => return Some((Err(error), Vec::new().into_iter())),
        }
    }
}

fn step_beats(
    step: &ScriptStep,
    place: &ConversationState<'_>,
) -> Result<Vec<PlaybackStep>, ModelError> {
    Ok(match &step.deed {
        StepAction::Say(text, pace) => spoken(text, *pace, Delta::Text),
        StepAction::Think(text, pace) => spoken(text, *pace, Delta::Thought),
        StepAction::Call(calls, pace) => called(calls, *pace, place.calls_ever),
        StepAction::Usage(usage) => vec![PlaybackStep::Told(Delta::Used(*usage))],
        StepAction::Pause(pause) => vec![PlaybackStep::Pause(*pause)],
        StepAction::Expect(expectation) => {
            let failed = |why| ModelError::new(format!("line {} of the script: {why}", step.line));
            expectation.check(place).map_err(failed)?;
            Vec::new()
        }
    })
}

fn spoken(text: &str, pace: WritingPace, delta: fn(String) -> Delta) -> Vec<PlaybackStep> {
    let rounds = pace.cut(text).into_iter().map(|piece| vec![delta(piece)]);
    in_time(rounds, pace)
}

/// The inputs of all calls are written at the same time.
fn called(calls: &[PlannedCall], pace: WritingPace, earlier: usize) -> Vec<PlaybackStep> {
    let written: Vec<Written> = (1..)
        .zip(calls)
        .map(|(number, call)| Written::new(call, pace, earlier + number))
        .collect();
    let began = written.iter().map(Written::began);
    let longest = written.iter().map(|call| call.pieces.len()).max();
    let rounds = (0..longest.unwrap_or_default())
        .map(|round| written.iter().filter_map(|call| call.grew(round)).collect());
    let complete = written.iter().map(Written::complete);
    let mut beats: Vec<PlaybackStep> = began.map(PlaybackStep::Told).collect();
    beats.extend(in_time(rounds, pace));
    beats.extend(complete.map(PlaybackStep::Told));
    beats
}

/// Rounds of deltas with the pace's pause between them.
fn in_time(rounds: impl Iterator<Item = Vec<Delta>>, pace: WritingPace) -> Vec<PlaybackStep> {
    let mut beats = Vec::new();
    for deltas in rounds {
        if !beats.is_empty() && !pace.delay.is_zero() {
            beats.push(PlaybackStep::Pause(pace.delay));
        }
        beats.extend(deltas.into_iter().map(PlaybackStep::Told));
    }
    beats
}

/// A call while it is written.
struct Written {
    id: Arc<str>,
    tool: Arc<str>,
    pieces: Vec<String>,
}

impl Written {
    fn new(call: &PlannedCall, pace: WritingPace, number: usize) -> Self {
        let given = call.id.clone();
        Self {
            id: given.unwrap_or_else(|| format!("script-{number}").into()),
            tool: call.tool.clone(),
            pieces: pace.cut(&call.input),
        }
    }

    fn began(&self) -> Delta {
        let (id, tool) = (self.id.clone(), self.tool.clone());
        Delta::CallBegan { id, tool }
    }

    fn grew(&self, round: usize) -> Option<Delta> {
        let (id, text) = (self.id.clone(), self.pieces.get(round)?.clone());
        Some(Delta::CallGrew { id, text })
    }

    fn complete(&self) -> Delta {
        let id = self.id.clone();
        Delta::CallComplete { id }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    fn deltas(text: &str) -> PlaybackStep {
        PlaybackStep::Told(Delta::Text(text.to_owned()))
    }

    #[test]
    fn pauses_stand_only_between_pieces() {
        let delay = Duration::from_millis(5);
        let pace = WritingPace { pieces: 2, delay };
        assert_eq!(
            spoken("ab", pace, Delta::Text),
            [deltas("a"), PlaybackStep::Pause(delay), deltas("b")]
        );
        assert_eq!(
            spoken("ab", WritingPace::AT_ONCE, Delta::Text),
            [deltas("ab")]
        );
    }

    #[test]
    fn calls_at_once_are_written_side_by_side() {
        let call = |id: Option<&str>, input: &str| PlannedCall {
            id: id.map(Into::into),
            tool: "t".into(),
            input: input.to_owned(),
        };
        let pace = WritingPace {
            pieces: 2,
            delay: Duration::ZERO,
        };
        let beats = called(&[call(None, "{}"), call(Some("b"), "x")], pace, 6);
        let shown = beats.iter().map(|beat| match beat {
            PlaybackStep::Told(Delta::CallBegan { id, .. }) => format!("{id} began"),
            PlaybackStep::Told(Delta::CallGrew { id, text }) => format!("{id} {text}"),
            PlaybackStep::Told(Delta::CallComplete { id }) => format!("{id} complete"),
            other => format!("{other:?}"),
        });
        let shown: Vec<String> = shown.collect();
        let expected = [
            "script-7 began",
            "b began",
            "script-7 {",
            "b x",
            "script-7 }",
            "script-7 complete",
            "b complete",
        ];
        assert_eq!(shown, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn playing_takes_the_time_of_its_pauses_and_ends_with_a_failure() {
        let began = Instant::now();
        let failure = ModelError::new("no");
        let beats = vec![
            deltas("a"),
            PlaybackStep::Pause(Duration::from_secs(3)),
            deltas("b"),
            PlaybackStep::Failed(failure.clone()),
            deltas("c"),
        ];
        let played: Vec<_> = play(beats)
            .map(|delta| (began.elapsed().as_secs(), delta))
            .collect()
            .await;
        let text = |text: &str| Ok(Delta::Text(text.to_owned()));
        assert_eq!(played, [(0, text("a")), (3, text("b")), (3, Err(failure))]);
    }
}
