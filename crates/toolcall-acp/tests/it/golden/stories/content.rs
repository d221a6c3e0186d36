//! Golden tests of content: images, links, progress, plans, nested calls, streamed inputs.
//! Commands and files have their own tests.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcall::*;

use crate::golden::harness::{ClientReplies, Story};
use crate::golden::script::{allows, asks_about, chosen, silent, terminal};
use crate::golden::tools::{call, edit, endless, read, run, shell, tool, tools};

fn project() -> MemoryHost {
    MemoryHost::default()
        .with_file("/w/a.rs", "a")
        .with_file("/w/b.rs", "b")
}

#[tokio::test(start_paused = true)]
async fn an_image_is_shown() {
    let draw = tool("draw", |_, scope| async move {
        scope.show("drawing");
        Ok(Content::image("image/png", b"not really"))
    });
    let wire = Story::new(tools([draw])).play(silent, |prompt| async move {
        prompt.call(call("draw")).await;
    });
    wire.await.check("image");
}

fn everything() -> Vec<Content> {
    let resource = |body| Resource {
        uri: "file:///w/notes.md".into(),
        mime: Some("text/markdown".into()),
        body,
    };
    let link = Link {
        uri: "https://example.com/".into(),
        name: "example".into(),
        title: Some("An example".into()),
        size: Some(1256),
        ..Link::default()
    };
    vec![
        Content::audio("audio/wav", b"beep"),
        resource(ResourceBody::Text("# Notes".into())).into(),
        resource(ResourceBody::Base64("IyBOb3Rlcw==".into())).into(),
        link.into(),
    ]
}

#[tokio::test(start_paused = true)]
async fn sound_resources_and_links_are_shown() {
    let fetch = tool("fetch", |_, _| async { Ok(everything()) });
    let wire = Story::new(tools([fetch])).play(silent, |prompt| async move {
        prompt.call(call("fetch")).await;
    });
    wire.await.check("audio_resource_link");
}

#[tokio::test(start_paused = true)]
async fn progress_is_reported() {
    let index = tool("index", |_, scope| async move {
        for done in [0.0, 1.0, 2.0] {
            scope.progress(Progress::at(done).of(4.0).saying("indexing"));
            tokio::time::advance(Duration::from_millis(150)).await;
        }
        scope.progress(Progress::at(4.0).of(4.0));
        Ok(ToolResult::from("indexed").structured(json!({"files": 4})))
    });
    let wire = Story::new(tools([index])).play(silent, |prompt| async move {
        prompt.call(call("index")).await;
    });
    wire.await.check("progress");
}

fn plan(first: PlanStatus, second: PlanStatus) -> Plan {
    let step = |content: &str, status, priority| PlanEntry {
        content: content.to_owned(),
        status,
        priority,
    };
    let entries = vec![
        step("Read the code", first, Priority::High),
        step("Write a test", second, Priority::Medium),
    ];
    Plan { entries }
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_handed_over() {
    let planning = tool("plan", |_, scope| async move {
        scope.plan(plan(PlanStatus::InProgress, PlanStatus::Pending));
        scope.plan(plan(PlanStatus::Completed, PlanStatus::InProgress));
        Ok("planned")
    });
    let wire = Story::new(tools([planning])).play(silent, |prompt| async move {
        prompt.call(call("plan")).await;
    });
    wire.await.check("plan");
}

#[tokio::test(start_paused = true)]
async fn a_call_makes_another() {
    let task = tool("task", |_, scope| async move {
        let outcome = scope.call(read("a.rs")).await;
        Ok(format!("the read {}", outcome.ending().name()))
    });
    let story = Story::new(tools([task])).host(project());
    let wire = story.play(silent, |prompt| async move {
        prompt.call(call("task")).await;
    });
    wire.await.check("nested");
}

#[tokio::test(start_paused = true)]
async fn an_input_is_streamed() {
    let story = Story::new(tools([])).host(project());
    let wire = story.play(allows, |prompt| async move {
        let mut input = prompt.turn().open("edit_file").await;
        for piece in [
            "{\"path\": \"a.rs\", \"old\": \"a\", ",
            "\"new\": \"the whole alphabet\"}",
        ] {
            input.grow(piece);
            tokio::time::advance(Duration::from_millis(200)).await;
        }
        input.complete().await;
    });
    wire.await.check("streamed_input");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_ends_its_call() {
    let story = Story::new(tools([])).host(project());
    let wire = story.play(silent, |prompt| async move {
        let mut input = prompt.turn().open("read_file").await;
        input.grow("{\"path\": \"a.rs\", \"and_then\"");
        drop(input);
    });
    wire.await.check("streamed_input_breaks_off");
}

#[tokio::test(start_paused = true)]
async fn custom_metadata_is_carried() {
    let noting = tool("note", |_, scope| async move {
        scope.note("example.com/ticket", json!({"id": 7}))?;
        tokio::time::advance(Duration::from_millis(300)).await;
        scope.note("example.com/cost", json!(0.25))?;
        Ok("noted")
    });
    let wire = Story::new(tools([noting])).play(silent, |prompt| async move {
        prompt.call(call("note")).await;
    });
    wire.await.check("custom_metadata");
}

#[tokio::test(start_paused = true)]
async fn the_trace_of_the_prompt_is_carried_on() {
    let trace = json!({
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate": "vendor=1",
        "other": true,
    });
    let story = Story::new(tools([])).host(project()).prompt_meta(trace);
    let wire = story.play(allows, |prompt| async move {
        prompt.call(edit("a.rs", "a", "b")).await;
    });
    wire.await.check("trace");
}

#[tokio::test(start_paused = true)]
async fn calls_run_side_by_side() {
    let story = Story::new(tools([])).host(project());
    let wire = story.play(silent, |prompt| async move {
        let first = prompt.begin(read("a.rs")).await;
        let second = prompt.begin(read("b.rs")).await;
        tokio::join!(first, second);
    });
    wire.await.check("parallel");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_says_nothing_of_itself_is_asked_about_with_its_input() {
    let schema = json!({"type": "object"});
    let definition = ToolDefinition::new("frobnicate", "For a story", schema);
    let vague = CustomTool::new(definition, |_, _| async { Ok(()) });
    let wire = Story::new(tools([vague])).play(allows, |prompt| async move {
        let request = ToolRequest::new("frobnicate", json!({"what": "everything"}));
        prompt.call(request.model_id("toolu_1")).await;
    });
    wire.await.check("vague_tool");
}

#[tokio::test(start_paused = true)]
async fn a_stored_session_is_replayed() {
    let story = Story::new(tools([endless("watch"), shell()])).host(project());
    let story = story.offering(json!({"terminal": true}));
    let client = |line: &Value, out: &mut ClientReplies| {
        if asks_about(line, "call-2") {
            out.answer(line, chosen("reject-once"));
        } else {
            allows(line, out);
        }
        let exit = json!({"exitCode": 0, "signal": null});
        terminal(line, out, "printed into a terminal\n", &exit);
    };
    let first = story.play(client, |prompt| async move {
        prompt.call(read("a.rs")).await;
        prompt.call(edit("a.rs", "a", "b")).await;
        prompt.call(run("make")).await;
        prompt.begin(call("watch")).await;
        tokio::task::yield_now().await;
    });
    let calls = Arc::new(first.await.stored());
    let again = Story::new(tools([])).play(silent, move |prompt| {
        let calls = calls.clone();
        async move { prompt.session().replay(&calls).await.expect("a client") }
    });
    again.await.check_lines("replay");
}
