//! Calls: progress, input requests of the server, cancellation and timeouts.
//! The conversion of results is tested beside it.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use toolcall::{Ending, Limits, ToolRequest};

use super::fake::{
    FakeConnection, FakeServer, FakeSession, result_text, session, settings, tool, with_engine,
};

/// Returns a server with the tool `work`; this script answers its calls, one after the other.
fn working<F, Fut>(script: F) -> FakeServer
where
    F: Fn(FakeConnection, Value) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = FakeConnection> + Send + 'static,
{
    FakeServer::new(move |_, mut connection| {
        let script = script.clone();
        async move {
            connection.begin(json!([tool("work")])).await;
            loop {
                let call = connection.call().await;
                connection = script(connection, call).await;
            }
        }
    })
}

#[tokio::test]
async fn failures_keep_their_words_and_what_was_produced() {
    let fake = working(|mut connection, call| async move {
        let content = json!([{"type": "text", "text": "no such thing"}]);
        match call["params"]["arguments"]["how"].as_str() {
            Some("tool") => {
                connection
                    .answer(&call, json!({"content": content, "isError": true}))
                    .await
            }
            Some("protocol") => {
                connection
                    .refuse(&call, -32602, "bad \u{1b}[31marguments")
                    .await
            }
            Some("empty") => {
                connection
                    .send(json!({"jsonrpc": "2.0", "id": call["id"]}))
                    .await
            }
            Some("text_id") => {
                let id = call["id"].to_string();
                connection
                    .send(json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}}))
                    .await;
            }
            _ => {
                connection
                    .send(json!({"id": call["id"], "error": "just words"}))
                    .await
            }
        }
        connection
    });
    let session = session(&fake).await;
    let how = async |how: &str| {
        result_text(
            &session
                .engine
                .run(ToolRequest::new("work", json!({"how": how})))
                .await,
        )
    };
    assert_eq!(how("tool").await, "failed: no such thing");
    assert_eq!(how("protocol").await, r"failed: bad \u{1b}[31marguments");
    assert_eq!(
        how("empty").await,
        "failed: its answer has neither a result nor an error"
    );
    assert_eq!(how("text_id").await, "no such thing");
    assert_eq!(how("odd").await, "failed: \"just words\"");
}

#[tokio::test]
async fn progress_is_reported_before_the_answer() {
    let fake = working(|mut connection, call| async move {
        let token = call["params"]["_meta"]["progressToken"].clone();
        for step in 1..=3 {
            let params = json!({"progressToken": token, "progress": step, "total": 4, "message": format!("step {step}")});
            connection.notify("notifications/progress", params).await;
        }
        // Progress with an unknown token is ignored.
        connection
            .notify(
                "notifications/progress",
                json!({"progressToken": "x", "progress": 9}),
            )
            .await;
        connection.answer_text(&call, "done").await;
        connection
    });
    let session = session(&fake).await;
    assert_eq!(session.result_text("work").await, "done");
    let reported: Vec<_> = session
        .progress
        .lock()
        .iter()
        .map(|progress| (progress.fraction(), progress.message().map(str::to_owned)))
        .collect();
    let last = (Some(0.75), Some("step 3".to_owned()));
    assert_eq!(reported.last(), Some(&last));
    assert!(
        reported.windows(2).all(|pair| pair[0].0 <= pair[1].0),
        "{reported:?}"
    );
}

/// Returns a server that answers a call only after it was cancelled.
fn hanging(received: &mpsc::Sender<Value>) -> FakeServer {
    let received = received.clone();
    working(move |mut connection, call| {
        let received = received.clone();
        async move {
            if call["params"]["arguments"]["hang"] != true {
                connection.answer_text(&call, "prompt").await;
                return connection;
            }
            received.send(call.clone()).await.unwrap();
            let cancelled = connection.expect("notifications/cancelled").await;
            assert_eq!(cancelled["params"]["requestId"], call["id"]);
            connection.answer_text(&call, "too late").await;
            received.send(cancelled).await.unwrap();
            connection
        }
    })
}

#[tokio::test]
async fn the_server_is_notified_of_a_cancelled_call_and_its_late_answer_is_ignored() {
    let (sender, mut received) = mpsc::channel(8);
    let session = session(&hanging(&sender)).await;
    let turn = session.engine.turn();
    let call = turn
        .call(ToolRequest::new("work", json!({"hang": true})))
        .await;
    received.recv().await.unwrap();
    assert!(session.engine.cancel(call.id()));
    let outcome = call.await;
    assert!(
        matches!(outcome.ending(), Ending::Cancelled { .. }),
        "{outcome:?}"
    );
    received.recv().await.unwrap();
    assert_eq!(session.result_text("work").await, "prompt");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_cancelled() {
    let (sender, mut received) = mpsc::channel(8);
    let mut slow = settings("fake");
    slow.timeouts.call = Duration::from_secs(3);
    let session = with_engine(vec![(slow, hanging(&sender))], |engine| {
        engine.policy(toolcall::AllowAll).limits(Limits::default())
    });
    session.servers.start();
    session.servers.settled().await;
    let outcome = session
        .engine
        .run(ToolRequest::new("work", json!({"hang": true})))
        .await;
    assert_eq!(result_text(&outcome), "timed_out: timed out after 3s");
    received.recv().await.unwrap();
    received.recv().await.unwrap();
    assert_eq!(session.result_text("work").await, "prompt");
}

#[tokio::test]
async fn what_a_server_asks_is_answered_or_refused() {
    let fake = working(|mut connection, call| async move {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let requests = [
            ("ping", json!({})),
            ("roots/list", json!({})),
            (
                "sampling/createMessage",
                json!({"messages": [], "maxTokens": 5}),
            ),
            (
                "elicitation/create",
                json!({"mode": "form", "message": "Who?", "requestedSchema": schema}),
            ),
            ("elicitation/create", json!({"mode": 7})),
            ("made/up", json!({})),
        ];
        let mut answers = Vec::new();
        for (number, (method, params)) in requests.into_iter().enumerate() {
            connection.send(json!({"jsonrpc": "2.0", "id": format!("q{number}"), "method": method, "params": params})).await;
            let answer = connection.receive().await.unwrap();
            let outcome = answer.get("result").or(answer.get("error")).unwrap();
            answers.push(format!("{method}: {outcome}"));
        }
        connection.answer_text(&call, &answers.join("\n")).await;
        connection
    });
    let session = session(&fake).await;
    expect![[r#"
        ping: {}
        roots/list: {"roots":[{"uri":"file:///w/","name":"w"}]}
        sampling/createMessage: {"code":-32600,"message":"sampling is refused"}
        elicitation/create: {"action":"decline"}
        elicitation/create: {"code":-32601,"message":"elicitation/create"}
        made/up: {"code":-32601,"message":"made/up"}"#]]
    .assert_eq(&session.result_text("work").await);
}

#[tokio::test]
async fn what_a_server_must_know_first_is_answered_in_rounds() {
    let fake = working(|mut connection, call| async move {
        let params = &call["params"];
        match params["requestState"].as_str() {
            None => {
                let requests = json!({
                    "who": {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?",
                            "requestedSchema": {"type": "object", "properties": {}}}},
                    "where": {"method": "roots/list"},
                });
                let result = json!({"resultType": "input_required", "inputRequests": requests, "requestState": "s1"});
                connection.answer(&call, result).await;
            }
            Some("s1") => {
                connection
                    .answer_text(&call, &params["inputResponses"].to_string())
                    .await
            }
            Some(other) => panic!("a state that nobody gave: {other}"),
        }
        connection
    });
    let session = session(&fake).await;
    let expected =
        r#"{"where":{"roots":[{"uri":"file:///w/","name":"w"}]},"who":{"action":"decline"}}"#;
    assert_eq!(session.result_text("work").await, expected);
}

#[tokio::test]
async fn rounds_without_end_end() {
    let fake = working(|mut connection, call| async move {
        let result =
            json!({"resultType": "input_required", "inputRequests": {}, "requestState": "s"});
        connection.answer(&call, result).await;
        connection
    });
    let session = session(&fake).await;
    assert_eq!(
        session.result_text("work").await,
        "failed: it asked back over 10 times"
    );
}

#[tokio::test]
async fn logs_are_kept_for_people() {
    let fake = working(|mut connection, call| async move {
        for number in 0..300 {
            let params = json!({"level": "info", "data": format!("line {number}\u{202e}")});
            connection.notify("notifications/message", params).await;
        }
        connection
            .notify(
                "notifications/message",
                json!({"level": "error", "data": {"code": 5}}),
            )
            .await;
        connection.answer_text(&call, "done").await;
        connection
    });
    let session = session(&fake).await;
    assert_eq!(session.result_text("work").await, "done");
    let log = session.status().log;
    assert_eq!(log.len(), 50);
    assert_eq!(log[48], r"[info] line 299\u{202e}");
    assert_eq!(log[49], r#"[error] {"code":5}"#);
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        let mut calls = Vec::new();
        while calls.len() < 64 {
            calls.push(connection.call().await);
        }
        for call in calls.iter().rev() {
            connection
                .answer_text(call, &call["params"]["arguments"]["n"].to_string())
                .await;
        }
        connection.echo().await;
    });
    let session = session(&fake).await;
    let turn = session.engine.turn();
    let mut handles = Vec::new();
    for number in 0..64 {
        handles.push(
            turn.call(ToolRequest::new("work", json!({"n": number})))
                .await,
        );
    }
    for (number, handle) in handles.into_iter().enumerate() {
        assert_eq!(result_text(&handle.await), number.to_string());
    }
}

/// A server that hangs does not delay the others.
#[tokio::test]
async fn a_server_that_hangs_does_not_delay_others() {
    let (sender, stuck) = oneshot::channel::<()>();
    let stuck = Arc::new(parking_lot::Mutex::new(Some(stuck)));
    let hanging = FakeServer::new(move |_, connection| {
        let stuck = stuck.lock().take();
        async move {
            if let Some(stuck) = stuck {
                stuck.await.ok();
            }
            drop(connection);
        }
    });
    let quick = FakeServer::echoing(json!([tool("work")]));
    let session: FakeSession = super::fake::unstarted(vec![
        (settings("slow"), hanging),
        (settings("quick"), quick),
    ]);
    let mut changes = session.registry.changes();
    session.servers.start();
    changes.changed().await.unwrap();
    assert_eq!(session.result_text("work").await, "work");
    drop(sender);
    session.servers.close().await;
}

#[tokio::test]
async fn a_trace_is_handed_on() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        let call = connection.call().await;
        let meta = &call["params"]["_meta"];
        assert!(!meta["progressToken"].is_null(), "{call}");
        let trace = meta["traceparent"].as_str().unwrap_or("none").to_owned();
        connection.answer_text(&call, &trace).await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    let turn = session.engine.turn();
    turn.set_trace([("traceparent".into(), "00-aa-bb-01".into())]);
    let outcome = turn.call(ToolRequest::new("work", json!({}))).await.await;
    assert_eq!(result_text(&outcome), "00-aa-bb-01");
}
