//! Tools that print very much: few bytes are sent, and the start and end of the output are right.
//! Both output formats are tested.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::sleep;
use toolcall::*;

use crate::golden::line::Line;
use crate::golden::rules;
use crate::reporting::fixture::{
    ClientBehavior, SessionFixture, bytes, known, only, with_terminals, work,
};

const MEGABYTES: usize = 50;
const MOST_ON_THE_WIRE: usize = 4 * 1024 * 1024;
const FIRST: &str = "the first line\n";
const LAST: &str = "the last line\n";

/// Returns lines of text, about this many bytes in all.
fn piece(bytes: usize) -> String {
    let line = "0123456789 the quick brown fox jumps over the lazy dog, again\n";
    line.repeat(bytes / line.len())
}

/// Prints everything in this many pieces, with a pause after each.
async fn print_all(scope: &RunContext, pieces: usize, pause: Duration) {
    let piece = piece(MEGABYTES * 1024 * 1024 / pieces);
    scope.print(FIRST);
    for _ in 0..pieces {
        scope.print(&piece);
        if pause.is_zero() {
            yield_now().await;
        } else {
            sleep(pause).await;
        }
    }
    scope.print(LAST);
}

async fn flood(behavior: ClientBehavior, pieces: usize, pause: Duration) -> Vec<Line> {
    let tools = only(
        Kind::Execute,
        move |_: Arc<Value>, scope: RunContext| async move {
            print_all(&scope, pieces, pause).await;
            Ok(())
        },
    );
    let fixture = SessionFixture::open(tools, behavior, |engine| engine);
    let outcome = fixture.session.engine().run(work()).await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    let lines = fixture.finish().await;
    assert_eq!(rules::findings(&lines), [""; 0]);
    lines
}

fn check_small(lines: &[Line]) {
    let on_the_wire = bytes(lines);
    assert!(on_the_wire < MOST_ON_THE_WIRE, "{on_the_wire} bytes");
}

async fn check_text(pieces: usize, pause: Duration) {
    let lines = flood(ClientBehavior::default(), pieces, pause).await;
    check_small(&lines);
    let known = known(&lines);
    let content = known.get("call-1", "content").expect("content");
    let text = content[0]["content"]["text"].as_str().expect("text");
    assert!(
        text.starts_with(&format!("```\n{FIRST}")),
        "{}",
        &text[..60]
    );
    assert!(text.ends_with(&format!("{LAST}```")), "no end");
    assert!(text.contains("bytes left out"), "no gap");
    assert_eq!(content[1]["content"]["uri"], "memory:call-1");
}

async fn check_terminal(pieces: usize, pause: Duration) {
    let lines = flood(with_terminals(), pieces, pause).await;
    check_small(&lines);
    let known = known(&lines);
    let meta = known.get("call-1", "_meta").expect("meta");
    let reported = meta["terminal_output"]["data"].as_str().expect("chunks");
    assert!(reported.starts_with(FIRST), "{}", &reported[..60]);
    assert!(reported.ends_with(LAST), "no end");
    assert!(reported.contains("bytes left out"), "no gap");
}

#[tokio::test(start_paused = true)]
async fn fifty_megabytes_at_once_as_text() {
    check_text(800, Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn fifty_megabytes_at_once_in_a_terminal() {
    check_terminal(800, Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn fifty_megabytes_in_ten_minutes_as_text() {
    check_text(6_000, Duration::from_millis(100)).await;
}

#[tokio::test(start_paused = true)]
async fn fifty_megabytes_in_ten_minutes_in_a_terminal() {
    check_terminal(6_000, Duration::from_millis(100)).await;
}

/// Prints the parts, each after the previous one was reported. Returns the reported chunks.
async fn reported_in_parts(parts: Vec<Vec<u8>>) -> Vec<String> {
    let tools = only(Kind::Execute, move |_: Arc<Value>, scope: RunContext| {
        let parts = parts.clone();
        async move {
            for part in parts {
                scope.print(part);
                sleep(Duration::from_millis(150)).await;
            }
            Ok(())
        }
    });
    let fixture = SessionFixture::open(tools, with_terminals(), |engine| engine);
    fixture.session.engine().run(work()).await;
    let lines = fixture.finish().await;
    let chunk = |line: &Line| {
        let data = line
            .json
            .pointer("/params/update/_meta/terminal_output/data");
        data.and_then(Value::as_str).map(str::to_owned)
    };
    lines.iter().filter_map(chunk).collect()
}

const COLOURED: &str = "grün \u{1b}[31m🦀\u{1b}[0m \u{1b}]0;title\u{7}end";

fn check_whole(chunks: &[String]) {
    assert_eq!(chunks.concat(), COLOURED);
    for chunk in chunks {
        let begun = chunk.matches('\u{1b}').count();
        let ended = chunk.matches(['m', '\u{7}']).count();
        assert_eq!(begun, ended, "{chunk:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn characters_and_colours_arrive_whole_wherever_they_are_split() {
    let all = COLOURED.as_bytes();
    for at in 1..all.len() {
        let (first, second) = all.split_at(at);
        check_whole(&reported_in_parts(vec![first.to_vec(), second.to_vec()]).await);
    }
    let single = all.iter().map(|byte| vec![*byte]).collect();
    check_whole(&reported_in_parts(single).await);
}

/// Plans are sent at the pace of growing content; the last one is always sent.
#[tokio::test(start_paused = true)]
async fn plans_do_not_break_the_budget() {
    let tools = only(
        Kind::Execute,
        |_: Arc<Value>, scope: RunContext| async move {
            for step in 0..500 {
                scope.print("0123456789abcdef\n".repeat(60));
                let entry = PlanEntry {
                    content: format!("step {step}"),
                    status: PlanStatus::InProgress,
                    priority: Priority::Medium,
                };
                scope.plan(Plan {
                    entries: vec![entry],
                });
                sleep(Duration::from_millis(5)).await;
            }
            Ok("done")
        },
    );
    let fixture = SessionFixture::open(tools, ClientBehavior::default(), |engine| engine);
    fixture.session.engine().run(work()).await;
    let lines = fixture.finish().await;
    check_small(&lines);
    let updates = || lines.iter().map(|line| &line.json["params"]["update"]);
    let plans: Vec<_> = updates()
        .filter(|update| update["sessionUpdate"] == "plan")
        .collect();
    assert!((10..100).contains(&plans.len()), "{}", plans.len());
    assert_eq!(plans[plans.len() - 1]["entries"][0]["content"], "step 499");
    let shown = updates().filter(|update| update["content"].is_array());
    assert!(shown.count() > 10, "the output is shown meanwhile");
}
