//! `thinking`: shows a thought.
//! It touches nothing else.

use expect_test::expect;
use serde_json::json;
use toolcall_tools::tools::Thinking;

use crate::web::support::TestEngine;

#[tokio::test]
async fn a_thought_is_kept_and_shown() {
    let story = TestEngine::of(Thinking)
        .transcript(
            "thinking",
            json!({"thought": "First\u{202e} this.\nThen that."}),
        )
        .await;
    expect![[r#"
        announced, prepared, decided, started, showed, finished
        think: Think: First\u{202e} this.
        touches []
        completed
        First\u{202e} this.
        Then that.
        kept a thought of 30 characters in 2 lines
        {"characters":30,"lines":2}"#]]
    .assert_eq(&story);
}

#[tokio::test]
async fn an_empty_thought_is_none() {
    let story = TestEngine::of(Thinking)
        .transcript("thinking", json!({"thought": " \n"}))
        .await;
    expect![[r#"
        announced, finished
        think: Think:  
        failed: `thought` is empty; write one, or go on without"#]]
    .assert_eq(&story);
}
