//! Scripts, played on paused time.
//! What they would do is up to the test, which ends their calls.

use expect_test::expect;
use toolcall::{Content, Registry};
use toolcall_agent::model::Model as _;
use toolcall_agent::model::script::{Script, ScriptModel};

use super::stage::Stage;

const EVERY_STEP: &str = include_str!("../fixtures/every-step.yaml");
const PAGE: &str = include_str!("../../../../../docs/script.md");

fn stage() -> Stage<ScriptModel> {
    let script = Script::parse(EVERY_STEP).expect("a script");
    let model = ScriptModel::new("script:every-step.yaml", script);
    assert_eq!(model.name(), "script:every-step.yaml");
    Stage::new(model, Registry::new())
}

fn said(text: &str) -> Vec<Content> {
    vec![text.into()]
}

#[tokio::test(start_paused = true)]
async fn every_step_is_played_in_its_time() {
    let mut stage = stage();
    let outcomes = [Ok("fn adds()"), Ok("fn add"), Err("no valid JSON")];
    stage.say(said("run the tests"), &outcomes).await;
    stage.say(said("try again, please"), &[]).await;
    stage.say(said("thank you"), &[]).await;
    stage.say(said("and now?"), &[]).await;
    stage.say(said("try again"), &[]).await;
    expect![[r#"
        --
           0 thought "Which tests are there?"
           0 text "Let me"
         100 text " look. "
         100 used 1200 of 200000
         100 script-1 began: search_files
         100 script-1 grew: {"query":"
         150 script-1 grew: #[test]","p
         200 script-1 grew: ath":"src"}
         200 script-1 complete
        --
        2000 text "Two at once."
        2000 lib began: read_file
        2000 script-3 began: run_command
        2000 lib grew: {"path":"src/lib.rs","line":1,"limit":20}
        2000 script-3 grew: {"command": "cargo te
        2000 lib complete
        2000 script-3 complete
        --
           0 text "Done.\n"
        --
           0 script-4 began: run_command
           0 script-4 grew: {"command":"cargo test"}
           0 script-4 complete
        --
        --
           0 text "You are welcome."
        --
           0 text "The script `script:every-step.yaml` is over. Begin a new session to play it again, or choose another model to go on.\n"
        --
           0 script-5 began: run_command
           0 script-5 grew: {"command":"cargo test"}
           0 script-5 complete
        --
    "#]].assert_eq(stage.lines());
}

#[tokio::test(start_paused = true)]
async fn what_was_not_expected_ends_the_turn() {
    let mut stage = stage();
    stage.say(said("hello"), &[]).await;
    stage.say(said("thank you"), &[]).await;
    expect![[r#"
        --
           0 error: line 2 of the script: expected `tests` in the prompt, but it was: `hello`
        --
           0 text "You are welcome."
    "#]]
    .assert_eq(stage.lines());
    let mut stage = self::stage();
    stage.say(said("tests"), &[Ok("nothing")]).await;
    expect![[r#"
        --
           0 thought "Which tests are there?"
           0 text "Let me"
         100 text " look. "
         100 used 1200 of 200000
         100 script-1 began: search_files
         100 script-1 grew: {"query":"
         150 script-1 grew: #[test]","p
         200 script-1 grew: ath":"src"}
         200 script-1 complete
        --
           0 error: line 11 of the script: expected `adds` in the result of call 1, but it was: `nothing`
    "#]].assert_eq(stage.lines());
}

/// The page that describes the format shows scripts that are ones.
#[test]
fn the_examples_of_the_page_are_scripts() {
    let blocks = PAGE.split("```yaml\n").skip(1);
    let examples: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .collect();
    assert!(examples.len() > 1, "the page has examples");
    for example in examples {
        if let Err(error) = Script::parse(example) {
            panic!("{error}\n{example}");
        }
    }
}
