//! What a person chooses, and commands that they type.
//! Which calls a mode lets through is the policy's to test.

use serde_json::{Value, json};

use crate::sessions::stage::{Editor, Stage, calls, says};

fn current<'a>(options: &'a Value, id: &str) -> &'a Value {
    let options = options.as_array().expect("options");
    let option = options.iter().find(|option| option["id"] == id);
    &option.expect("the option")["currentValue"]
}

async fn choose(
    editor: &mut Editor,
    session: &str,
    option: &str,
    value: &str,
) -> (Vec<String>, Value) {
    let params = json!({"sessionId": session, "configId": option, "value": value});
    let heard = editor.ask("session/set_config_option", params).await;
    let sorts = heard.kinds().into_iter().map(str::to_owned).collect();
    (sorts, heard.answer)
}

#[tokio::test]
async fn the_mode_that_is_chosen_holds() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let chosen = json!({"sessionId": session, "modeId": "read-only"});
    let heard = editor.ask("session/set_mode", chosen).await;
    assert_eq!(heard.answer["result"], json!({}));
    assert!(heard.before.is_empty());
    let text = json!({"path": "b.txt", "content": "two\n"});
    stage
        .puppet
        .will(calls("m1", "write_file", text))
        .will([says("no")]);
    let heard = editor.prompt(&session, "write").await;
    let end = heard
        .updates("tool_call_update")
        .pop()
        .cloned()
        .expect("an end");
    assert_eq!(end["status"], "failed");
    assert!(!stage.cwd().join("b.txt").exists());
    let wrong = json!({"sessionId": session, "modeId": "bypass"});
    let refused = editor.ask("session/set_mode", wrong).await.answer;
    assert_eq!(refused["error"]["code"], -32602);
    editor.leave().await;
}

#[tokio::test]
async fn options_are_chosen_and_told() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let (told, answer) = choose(&mut editor, &session, "mode", "accept-edits").await;
    assert_eq!(told, ["current_mode_update"]);
    let options = &answer["result"]["configOptions"];
    assert_eq!(current(options, "mode"), "accept-edits");
    assert_eq!(current(options, "model"), "puppet");
    let (told, answer) = choose(&mut editor, &session, "model", "other").await;
    assert!(told.is_empty());
    assert_eq!(
        current(&answer["result"]["configOptions"], "model"),
        "other"
    );
    assert_eq!(
        editor.prompt(&session, "who are you?").await.text(),
        "other"
    );
    for (option, value) in [("model", "nobody"), ("colour", "red")] {
        let (_, answer) = choose(&mut editor, &session, option, value).await;
        assert_eq!(answer["error"]["code"], -32602);
    }
    editor.leave().await;
}

#[tokio::test]
async fn a_command_is_answered_without_the_model() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let edit = json!({"path": "a.txt", "edits": [{"type": "replace", "oldText": "one", "newText": "two"}]});
    stage
        .puppet
        .will(calls("m1", "edit_file", edit))
        .will([says("Mended.")]);
    editor.prompt(&session, "mend").await;
    let known = stage.puppet.heard().len();
    for (typed, words) in [
        ("/tools", "| read_file | read | toolcall |"),
        ("/tools read_file", "**read_file**"),
        ("/policy", "Mode: **ask**"),
        ("/policy git push", "**ask** `git push`"),
        ("/history", "| call-1 | completed | Edit a.txt |"),
        ("/stats", "| edit_file | 1 | 100 % |"),
        ("/model", "| puppet | answers |"),
        ("/toolz", "Did you mean `/tools`?"),
        ("/undo", "- `a.txt` is as before"),
    ] {
        let heard = editor.prompt(&session, typed).await;
        assert!(heard.text().contains(words), "{typed}: {}", heard.text());
    }
    let text = std::fs::read_to_string(stage.cwd().join("a.txt")).expect("a file");
    assert_eq!(text, "one\n");
    assert_eq!(stage.puppet.heard().len(), known);
    let heard = editor.prompt(&session, "/undo").await;
    assert!(heard.text().contains("nothing to undo"), "{}", heard.text());
    // It changed since, so nothing is done.
    std::fs::write(stage.cwd().join("a.txt"), "three\n").expect("a file");
    let heard = editor.prompt(&session, "/undo call-1").await;
    assert!(heard.text().contains("changed since"), "{}", heard.text());
    editor.leave().await;
}

#[tokio::test]
async fn a_command_chooses_the_model() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    assert!(
        editor
            .prompt(&session, "/model other")
            .await
            .text()
            .contains("| other | answers |")
    );
    assert_eq!(
        editor.prompt(&session, "who are you?").await.text(),
        "other"
    );
    let heard = editor.prompt(&session, "/model nobody").await;
    assert!(
        heard.text().contains("there is no model `nobody`"),
        "{}",
        heard.text()
    );
    editor.leave().await;
}

#[tokio::test]
async fn a_mode_that_the_model_asks_for_is_asked_about_and_told() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let wish = calls("m1", "switch_mode", json!({"mode": "accept-edits"}));
    stage.puppet.will(wish).will([says("Now I may.")]);
    let heard = editor.prompt(&session, "go on").await;
    let is_question = |line: &&Value| line["method"] == "session/request_permission";
    let question = heard.before.iter().find(is_question).expect("a question");
    let call = &question["params"]["toolCall"];
    assert_eq!(
        (&call["kind"], &call["title"]),
        (&json!("switch_mode"), &json!("Switch to accept-edits"))
    );
    let kinds = question["params"]["options"]
        .as_array()
        .expect("options")
        .iter();
    let kinds: Vec<_> = kinds.map(|option| option["kind"].clone()).collect();
    assert_eq!(kinds, ["allow_once", "reject_once"]);
    assert_eq!(
        heard.updates("current_mode_update")[0]["currentModeId"],
        "accept-edits"
    );
    // Stricter again, which nobody needs to be asked about.
    let wish = calls("m1", "switch_mode", json!({"mode": "ask"}));
    stage.puppet.will(wish).will([says("Now I may not.")]);
    let heard = editor.prompt(&session, "enough").await;
    assert_eq!(heard.before.iter().filter(is_question).count(), 0);
    assert_eq!(
        heard.updates("current_mode_update")[0]["currentModeId"],
        "ask"
    );
    editor.leave().await;
}

#[tokio::test]
async fn a_mode_is_told_although_the_turn_is_broken_off() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let wish = calls("m1", "switch_mode", json!({"mode": "read-only"}));
    // Then it thinks for ever.
    stage.puppet.will(wish);
    let thinking = editor.send_prompt(&session, "go on").await;
    while editor.next().await["params"]["update"]["sessionUpdate"] != "current_mode_update" {}
    assert_eq!(
        editor.next().await["params"]["update"]["sessionUpdate"],
        "config_option_update"
    );
    editor
        .notify("session/cancel", json!({"sessionId": session}))
        .await;
    assert_eq!(
        editor.finish(thinking).await.answer["result"]["stopReason"],
        "cancelled"
    );
    editor.leave().await;
}

#[tokio::test]
async fn undo_goes_back_one_call_after_the_other() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    for (old, new) in [("one", "two"), ("two", "three")] {
        let edits = json!([{"type": "replace", "oldText": old, "newText": new}]);
        let edit = json!({"path": "a.txt", "edits": edits});
        stage
            .puppet
            .will(calls("m1", "edit_file", edit))
            .will([says("Mended.")]);
        editor.prompt(&session, "mend").await;
    }
    for left in ["two\n", "one\n"] {
        editor.prompt(&session, "/undo").await;
        let text = std::fs::read_to_string(stage.cwd().join("a.txt")).expect("a file");
        assert_eq!(text, left);
    }
    editor.leave().await;
}

#[tokio::test]
async fn what_others_wrote_stays_in_its_place() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let name = "z`\n\n# Heading";
    let file = json!({"path": name, "content": "one\n"});
    stage
        .puppet
        .will(calls("m1", "write_file", file))
        .will([says("Written.")]);
    editor.prompt(&session, "write").await;
    for typed in [
        "/history",
        "/undo",
        "/undo x\n# Heading",
        "/model x\n# Heading",
    ] {
        let words = editor.prompt(&session, typed).await.text();
        let headings = words.lines().filter(|line| line.starts_with('#'));
        assert_eq!(headings.count(), 0, "{typed}: {words}");
    }
    editor.leave().await;
}
