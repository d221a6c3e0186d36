//! Golden tests of files: read, edited, deleted, moved, on disk and in the client's buffers.
//! `permission.rs` tests the questions.

use serde_json::{Value, json};
use toolcall::*;

use crate::golden::harness::{ClientReplies, Story};
use crate::golden::script::{allows, asks, chosen, refuses, silent};
use crate::golden::tools::{call, changing, edit, read, tools};

fn project() -> MemoryHost {
    MemoryHost::default().with_file("/w/a.rs", "fn old() {}\n")
}

#[tokio::test(start_paused = true)]
async fn read_a_file() {
    let story = Story::new(tools([])).host(project());
    let wire = story.play(silent, |prompt| async move {
        prompt.call(read("a.rs")).await;
        prompt.say("That is all.").await;
    });
    wire.await.check("read");
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_allowed() {
    let story = Story::new(tools([])).host(project());
    let wire = story.play(allows, |prompt| async move {
        prompt.call(edit("a.rs", "old", "new")).await;
    });
    wire.await.check("edit_allowed");
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_refused() {
    let story = Story::new(tools([])).host(project());
    let wire = story.play(refuses, |prompt| async move {
        prompt.call(edit("a.rs", "old", "new")).await;
    });
    wire.await.check("edit_refused");
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_refused_with_a_reason() {
    let story = Story::new(tools([])).host(project());
    let client = |line: &Value, out: &mut ClientReplies| {
        if asks(line) {
            let mut answer = chosen("reject-once");
            answer["_meta"] = json!({"toolcall/reason": "not on a Friday"});
            out.answer(line, answer);
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(edit("a.rs", "old", "new")).await;
    });
    wire.await.check("edit_refused_with_a_reason");
}

#[tokio::test(start_paused = true)]
async fn two_edits_of_one_file_follow_each_other() {
    let story = Story::new(tools([])).host(project());
    let wire = story.play(allows, |prompt| async move {
        let first = prompt.begin(edit("a.rs", "old", "middle")).await;
        let second = prompt.begin(edit("a.rs", "middle", "new")).await;
        tokio::join!(first, second);
    });
    wire.await.check("two_edits_of_one_file");
}

#[tokio::test(start_paused = true)]
async fn a_file_is_deleted() {
    let gone = FileEdit::deleted("/w/a.rs", FileBody::Text("fn old() {}\n".into()));
    let story = Story::new(tools([changing("remove", Kind::Delete, vec![gone])])).host(project());
    let wire = story.play(allows, |prompt| async move {
        prompt.call(call("remove")).await;
    });
    wire.await.check("delete");
}

#[tokio::test(start_paused = true)]
async fn a_file_is_moved() {
    let moved = FileEdit::moved("/w/a.rs", "/w/b.rs");
    let story = Story::new(tools([changing("rename", Kind::Move, vec![moved])])).host(project());
    let wire = story.play(allows, |prompt| async move {
        prompt.call(call("rename")).await;
    });
    wire.await.check("move");
}

#[tokio::test(start_paused = true)]
async fn a_binary_file_is_made() {
    let binary = FileEdit {
        path: "/w/logo.png".into(),
        change: FileChange::Added {
            after: FileBody::Binary {
                bytes: 2048,
                digest: None,
            },
        },
    };
    let story = Story::new(tools([changing("draw", Kind::Edit, vec![binary])]));
    let wire = story.play(allows, |prompt| async move {
        prompt.call(call("draw")).await;
    });
    wire.await.check("binary_edit");
}

#[tokio::test(start_paused = true)]
async fn hidden_characters_in_a_diff_are_named() {
    let hidden = FileEdit::added("/w/b.rs", "let admin\u{200b} = true;\n// \u{202e}done\n");
    let story = Story::new(tools([changing("write", Kind::Edit, vec![hidden])]));
    let wire = story.play(refuses, |prompt| async move {
        prompt.call(call("write")).await;
    });
    wire.await.check("hidden_in_a_diff");
}

fn buffers() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

/// Returns a client with one unsaved buffer, which reads as these texts one after the other.
fn with_buffer(texts: &'static [&'static str]) -> impl FnMut(&Value, &mut ClientReplies) {
    let mut reads = 0;
    move |line, out| match line["method"].as_str() {
        Some("fs/read_text_file") => {
            let text = texts[reads.min(texts.len() - 1)];
            reads += 1;
            out.answer(line, json!({"content": text}));
        }
        Some("fs/write_text_file") => out.answer(line, json!({})),
        _ => allows(line, out),
    }
}

#[tokio::test(start_paused = true)]
async fn an_unsaved_buffer_is_read_and_written() {
    let story = Story::new(tools([])).host(project()).offering(buffers());
    let wire = story.play(with_buffer(&["fn unsaved() {}\n"]), |prompt| async move {
        prompt.call(read("a.rs")).await;
        prompt.call(edit("a.rs", "unsaved", "new")).await;
    });
    wire.await.check("unsaved_buffer");
}

#[tokio::test(start_paused = true)]
async fn a_buffer_that_changed_since_it_was_shown_stays() {
    let story = Story::new(tools([])).host(project()).offering(buffers());
    let client = with_buffer(&["fn unsaved() {}\n", "fn typed_meanwhile() {}\n"]);
    let wire = story.play(client, |prompt| async move {
        prompt.call(edit("a.rs", "unsaved", "new")).await;
    });
    wire.await.check("buffer_changed_meanwhile");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_only_the_client_could_have_is_missing() {
    let story = Story::new(tools([])).host(project()).offering(buffers());
    let client = |line: &Value, out: &mut ClientReplies| {
        if line["method"] == "fs/read_text_file" {
            let error = json!({"code": -32002, "message": "Resource not found"});
            out.send(json!({"jsonrpc": "2.0", "id": line["id"], "error": error}));
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(read("b.rs")).await;
    });
    wire.await.check("missing_in_the_client");
}

/// Many clients have no special error code for a missing file.
#[tokio::test(start_paused = true)]
async fn a_new_file_is_made_whatever_the_client_says_of_one_that_is_missing() {
    let added = FileEdit::added("/w/b.rs", "new\n");
    let story = Story::new(tools([changing("write", Kind::Edit, vec![added])]))
        .host(project())
        .offering(buffers());
    let client = |line: &Value, out: &mut ClientReplies| match line["method"].as_str() {
        Some("fs/read_text_file") => {
            let error = json!({"code": -32603, "message": "ENOENT: no such file or directory"});
            out.send(json!({"jsonrpc": "2.0", "id": line["id"], "error": error}));
        }
        Some("fs/write_text_file") => out.answer(line, json!({})),
        _ => allows(line, out),
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(call("write")).await;
    });
    wire.await.check("new_file_in_the_client");
}
