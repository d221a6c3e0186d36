//! Which calls wait for which: conflicting ones run in order, all others at the same time.
//! Which calls conflict is tested with the schedule.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use toolcall::*;

use crate::engine::support::*;

fn edit(path: &str, old: &str, new: &str) -> ToolRequest {
    ToolRequest::new("edit_file", json!({"path": path, "old": old, "new": new}))
}

#[tokio::test]
async fn two_edits_of_one_file_in_one_turn_both_succeed_in_order() {
    let log = Log::default();
    let host = Arc::new(MemoryHost::default().with_file("/w/a", "one two"));
    let shown = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = shown.clone();
    let approver = move |question: Arc<Question>| {
        seen.lock()
            .unwrap()
            .push(question.subject.intent.preview.clone());
        async { Answer::AllowOnce }
    };
    let engine = engine(registry([]), &log)
        .host(host.clone())
        .approver(approver)
        .build();
    let turn = engine.turn();
    let first = turn.call(edit("a", "two", "2")).await;
    let second = turn.call(edit("a", "one", "1")).await;
    assert_eq!(first.await.ending(), &Ending::Completed);
    assert_eq!(second.await.ending(), &Ending::Completed);
    assert_eq!(host.file("/w/a"), Some(FileBody::Text("1 2".into())));
    assert_eq!(
        *shown.lock().unwrap(),
        [
            vec![Content::Edit(FileEdit::modified(
                "/w/a", "one two", "one 2"
            ))],
            vec![Content::Edit(FileEdit::modified("/w/a", "one 2", "1 2"))],
        ],
        "the second diff is made after the first edit"
    );
    assert_eq!(
        log.order(),
        [
            "c-1 announced",
            "c-2 announced",
            "c-1 prepared",
            "c-1 asked",
            "c-1 decided",
            "c-1 started",
            "c-1 finished",
            "c-2 prepared",
            "c-2 asked",
            "c-2 decided",
            "c-2 started",
            "c-2 finished",
        ]
    );
}

#[tokio::test]
async fn the_second_edit_goes_on_when_the_first_is_refused() {
    let log = Log::default();
    let host = Arc::new(MemoryHost::default().with_file("/w/a", "one two"));
    let approver = |question: Arc<Question>| async move {
        if question.call == id(1) {
            Answer::reject()
        } else {
            Answer::AllowOnce
        }
    };
    let engine = engine(registry([]), &log)
        .host(host.clone())
        .approver(approver)
        .build();
    let turn = engine.turn();
    let first = turn.call(edit("a", "two", "2")).await;
    let second = turn.call(edit("a", "one", "1")).await;
    assert_eq!(
        first.await.ending(),
        &Ending::denied("the user rejected it")
    );
    assert_eq!(second.await.ending(), &Ending::Completed);
    assert_eq!(host.file("/w/a"), Some(FileBody::Text("1 two".into())));
}

#[tokio::test]
async fn calls_that_touch_different_things_run_side_by_side() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let engine = engine(registry([waiting("wait", &bell)]), &log)
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let calls = [
        turn.call(ToolRequest::new("wait", json!({}))).await,
        turn.call(ToolRequest::new("wait", json!({}))).await,
    ];
    settle().await;
    let open = engine.journal().open_calls();
    assert!(
        open.iter().all(|call| call.status() == Status::Running),
        "{open:?}"
    );
    bell.notify_waiters();
    for call in calls {
        assert_eq!(call.await.ending(), &Ending::Completed);
    }
}

#[tokio::test]
async fn a_call_that_waits_for_the_user_blocks_no_other() {
    let log = Log::default();
    let host = MemoryHost::default()
        .with_file("/w/a", "a")
        .with_file("/w/b", "b");
    let approver = |question: Arc<Question>| async move {
        if question.call == id(1) {
            std::future::pending().await
        } else {
            Answer::AllowOnce
        }
    };
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .approver(approver)
        .build();
    let turn = engine.turn();
    let _waiting = turn.call(edit("a", "a", "x")).await;
    let other = turn.call(edit("b", "b", "x")).await;
    assert_eq!(other.await.ending(), &Ending::Completed);
    let read = turn
        .call(ToolRequest::new("read_file", json!({"path": "b"})))
        .await;
    assert_eq!(read.await.ending(), &Ending::Completed);
}

#[tokio::test]
async fn a_command_that_was_not_understood_runs_alone() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let listening = bell.clone();
    let shell = custom("run_shell", move |_, _| {
        let bell = listening.clone();
        async move {
            bell.notified().await;
            Ok(())
        }
    });
    let shell = shell.preparing(|context| {
        let command = Command::new(
            "make $(date)",
            context.setting().cwd.clone(),
            Reading::Unclear("a substitution".into()),
        );
        Ok(Intent::new(Kind::Execute, "make $(date)").touching(Touch::Runs(command)))
    });
    let host = MemoryHost::default().with_file("/w/a", "a");
    let engine = engine(registry([Arc::new(shell)]), &log)
        .host(Arc::new(host))
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let shell = turn.call(ToolRequest::new("run_shell", json!({}))).await;
    let read = turn
        .call(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    settle().await;
    assert_eq!(
        engine.journal().call(read.id()).unwrap().status(),
        Status::Announced
    );
    bell.notify_one();
    assert_eq!(shell.await.ending(), &Ending::Completed);
    assert_eq!(read.await.ending(), &Ending::Completed);
}

/// On several threads the task of a later call may run first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_keep_the_order_in_which_they_were_asked_for() {
    let host = Arc::new(MemoryHost::default().with_file("/w/a", "0"));
    let log = Log::default();
    let engine = engine(registry([]), &log)
        .host(host.clone())
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let mut calls = Vec::new();
    for number in 0..200 {
        calls.push(
            turn.call(edit("a", &number.to_string(), &(number + 1).to_string()))
                .await,
        );
    }
    for call in calls {
        assert_eq!(call.await.ending(), &Ending::Completed);
    }
    assert_eq!(host.file("/w/a"), Some(FileBody::Text("200".into())));
}
