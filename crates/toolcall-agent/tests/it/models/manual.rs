//! The person as the model, with the tools of a real session.
//! What the tools would do is not tried here, only that they would take what they are given.

use expect_test::expect;
use serde_json::Value;
use tempfile::TempDir;
use toolcall::{Content, Link, Registry};
use toolcall_agent::model::manual::Manual;
use toolcall_tools::{Toolset, ToolsetConfig};

use super::stage::Stage;

struct Room {
    tools: Registry,
    _folders: [TempDir; 2],
}

impl Room {
    fn new() -> Self {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let settings = ToolsetConfig::new(vec![folders[0].path().to_owned()], folders[1].path());
        let kit = Toolset::open(settings).expect("a kit");
        let mut tools = Registry::new();
        kit.add_to(&mut tools).expect("tools");
        Self {
            tools,
            _folders: folders,
        }
    }

    fn stage(&self) -> Stage<Manual> {
        let manual = Manual::new("`toolcall config init` connects one.");
        Stage::new(manual, self.tools.clone())
    }
}

fn said(text: &str) -> Vec<Content> {
    vec![text.into()]
}

#[tokio::test(start_paused = true)]
async fn a_conversation() {
    let room = Room::new();
    let mut stage = room.stage();
    stage.say(said("read README.md 2-4"), &[]).await;
    stage.say(said("list\nhelp\nrun cargo test\n"), &[]).await;
    stage.say(said("raed README.md"), &[]).await;
    let link = Content::Link(Link {
        uri: "file:///home/a%20b/c.rs".into(),
        ..Link::default()
    });
    stage.say(vec!["read ".into(), link], &[]).await;
    expect![[r#"
        --
           0 text "No model is connected, so your lines are the calls. `toolcall config init` connects one. `help` lists what you can write.\n\n"
           0 manual-1 began: read_file
           0 manual-1 grew: {"path":"README.md","line":2,"limit":3}
           0 manual-1 complete
        --
        --
           0 manual-2 began: list_directory
           0 manual-2 grew: {"path":"."}
           0 manual-2 complete
        --
           0 text "Each line is one call. Several lines run one after the other.\n\n- `read README.md`: a file; `read README.md 1-20` is some lines of it\n- `list src`: what is in a folder\n- `find *.rs`: files by their names\n- `search TODO in src`: text in files\n- `run cargo test`: a command; also `$ cargo test`\n- `write notes.txt: Buy milk.`: a whole file; longer text goes below `write notes.txt`, fenced or to the end\n- `edit notes.txt milk => bread`: a part of a file; several lines go below `edit notes.txt`, as `- old` and `+ new`\n- `delete notes.txt`: a file\n- `move notes.txt to old/notes.txt`: a file or folder\n- `fetch https://example.org/`: a page of the web\n- `think The test comes first.`: a thought, kept\n- `plan: read it; change it; test it`: a plan, shown\n- `help`: this list\n\nAny tool by its name, with `key=value` or one JSON object:\n\n- `command_output id=…`\n- `stop_command id=…`\n"
           0 manual-3 began: run_command
           0 manual-3 grew: {"command":"cargo test"}
           0 manual-3 complete
        --
        --
           0 text "I do not know `raed`. Did you mean `read README.md`? `help` lists everything.\n"
        --
           0 manual-4 began: read_file
           0 manual-4 grew: {"path":"/home/a b/c.rs"}
           0 manual-4 complete
        --
    "#]].assert_eq(stage.lines());
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_the_rest_is_not_run() {
    let room = Room::new();
    let mut stage = room.stage();
    let three = "run true\nrun false\nwrite a: b\nlist";
    stage.say(said(three), &[Ok(""), Err("exit code 1")]).await;
    stage.say(said("run false"), &[Err("denied")]).await;
    stage.say(said("run false\nlist"), &[Err("denied")]).await;
    stage.say(said("list\nraed x"), &[]).await;
    expect![[r#"
        --
           0 text "No model is connected, so your lines are the calls. `toolcall config init` connects one. `help` lists what you can write.\n\n"
           0 manual-1 began: run_command
           0 manual-1 grew: {"command":"true"}
           0 manual-1 complete
        --
           0 manual-2 began: run_command
           0 manual-2 grew: {"command":"false"}
           0 manual-2 complete
        --
           0 text "`run false` did not work, so the 2 lines after it were not run.\n"
        --
           0 manual-3 began: run_command
           0 manual-3 grew: {"command":"false"}
           0 manual-3 complete
        --
        --
           0 manual-4 began: run_command
           0 manual-4 grew: {"command":"false"}
           0 manual-4 complete
        --
           0 text "`run false` did not work, so the line after it was not run.\n"
        --
           0 text "Line 2: I do not know `raed`. Did you mean `read README.md`? `help` lists everything. Nothing was run.\n"
    "#]].assert_eq(stage.lines());
}

#[tokio::test(start_paused = true)]
async fn an_empty_prompt_is_answered_with_help() {
    let room = Room::new();
    let mut stage = room.stage();
    stage.say(said(" \n"), &[]).await;
    expect![[r#"
        --
           0 text "No model is connected, so your lines are the calls. `toolcall config init` connects one. `help` lists what you can write.\n\n"
           0 text "Each line is one call. Several lines run one after the other.\n\n- `read README.md`: a file; `read README.md 1-20` is some lines of it\n- `list src`: what is in a folder\n- `find *.rs`: files by their names\n- `search TODO in src`: text in files\n- `run cargo test`: a command; also `$ cargo test`\n- `write notes.txt: Buy milk.`: a whole file; longer text goes below `write notes.txt`, fenced or to the end\n- `edit notes.txt milk => bread`: a part of a file; several lines go below `edit notes.txt`, as `- old` and `+ new`\n- `delete notes.txt`: a file\n- `move notes.txt to old/notes.txt`: a file or folder\n- `fetch https://example.org/`: a page of the web\n- `think The test comes first.`: a thought, kept\n- `plan: read it; change it; test it`: a plan, shown\n- `help`: this list\n\nAny tool by its name, with `key=value` or one JSON object:\n\n- `command_output id=…`\n- `stop_command id=…`\n"
    "#]].assert_eq(stage.lines());
}

/// Lines whose inputs the real tools must take, every verb among them.
const LINES: &str = r#"
read a 1-2
read a 3
list
list src
find *.rs in src
search TODO in src
run cargo test | head
edit a 'x y' => z
edit a
- old
- lines
+ new
delete a
move a to b
fetch https://example.org/
think It works.
plan: one; two
write_file {"path": "a",
            "content": "b"}
run_command command="sleep 1" timeout=5 background=true
write a: text
"#;

#[tokio::test(start_paused = true)]
async fn the_real_tools_take_what_lines_make() {
    let room = Room::new();
    let mut stage = room.stage();
    stage.say(said(LINES), &[]).await;
    let mut tools = Vec::new();
    for (tool, input) in stage.calls() {
        let definition = room.tools.definition(tool).expect("a tool that is there");
        let input: Value = serde_json::from_str(input).expect("JSON");
        let valid = jsonschema::validate(&definition.input_schema, &input);
        assert!(valid.is_ok(), "{tool} {input}: {valid:?}");
        tools.push(tool.to_owned());
    }
    expect!["read_file read_file list_directory list_directory find_path search_files run_command edit_file edit_file delete_file move_file fetch thinking todo_write write_file run_command write_file"].assert_eq(&tools.join(" "));
}
