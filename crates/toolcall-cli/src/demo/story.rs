//! The story of the demo, scene by scene: what a model asks for in one turn.
//! It makes requests and waits for outcomes; what is seen of them comes from the reader.

use serde_json::{Value, json};
use toolcall::{CallHandle, CallId, Content, Engine, Event, Outcome, ToolRequest, Turn};

use crate::approver::Voice;
use crate::pace::Pace;
use crate::screen::{Audience, Screen};
use crate::view::{BOLD, DIM, painted, width, wrapped};

const BETWEEN_SCENES: u64 = 350;
const STROKE: u64 = 90;
const FOLLOWED: usize = 1024;
/// What the script prints before it waits.
const WATCHING: &str = "watching src\nno change so far\n";

/// An input as a model writes it.
const WRITTEN: &str = r#"{ "path": "README.md", "edits": [ { "type": "replace", "oldText": "TODO: say goodbye properly", "newText": "Says goodbye properly." } ] }"#;

/// Nobody reads any more.
#[derive(Debug)]
pub(crate) struct Unheard;

/// Whether it was told.
pub(crate) type Told = Result<(), Unheard>;

/// Says what a scene is about, to people only.
pub(crate) struct Narrator {
    voice: Voice,
    screen: Screen,
}

impl Narrator {
    /// Speaks on this screen.
    pub(crate) fn new(voice: Voice, screen: Screen) -> Self {
        Self { voice, screen }
    }

    /// Says something, if anybody listens.
    pub(crate) fn say(&self, text: &str) -> Told {
        let heard = match self.voice {
            Voice::Aloud => self.screen.line(text),
            Voice::Silent => self.screen.text(String::new()),
        };
        match heard {
            Audience::Listening => Ok(()),
            Audience::Gone => Err(Unheard),
        }
    }
}

/// The story.
pub(crate) struct Story<'a> {
    engine: &'a Engine,
    turn: &'a Turn,
    narrator: &'a Narrator,
    pace: Pace,
}

impl<'a> Story<'a> {
    /// A story in this turn.
    pub(crate) fn new(
        engine: &'a Engine,
        turn: &'a Turn,
        narrator: &'a Narrator,
        pace: Pace,
    ) -> Self {
        Self {
            engine,
            turn,
            narrator,
            pace,
        }
    }

    /// Tells it, as long as somebody listens.
    pub(crate) async fn tell(&self) -> Told {
        self.looks().await?;
        self.edits().await?;
        self.streamed_edit().await?;
        self.tests().await?;
        self.forbidden().await?;
        self.cancelled().await?;
        self.plan().await?;
        self.mistakes().await
    }

    async fn looks(&self) -> Told {
        self.scene(
            "1  A search and two reads side by side; the policy allows them, nobody is asked",
        )
        .await?;
        let todo = json!({"query": "TODO"});
        let mut handles = vec![self.call("search_files", todo).await];
        for path in ["src/greet.sh", "tests/run.sh"] {
            handles.push(self.call("read_file", json!({"path": path})).await);
        }
        for handle in handles {
            handle.await;
        }
        Ok(())
    }

    async fn edits(&self) -> Told {
        self.scene("2  Two edits of one file at once; the second waits and sees the first")
            .await?;
        let first = self.call("edit_file", replace("Hi $1", "Hello, $1!")).await;
        let second = self
            .call("edit_file", replace("Bye $1", "Goodbye, $1!"))
            .await;
        first.await;
        second.await;
        Ok(())
    }

    async fn streamed_edit(&self) -> Told {
        self.scene("3  The model writes its input bit by bit; the title follows")
            .await?;
        let mut stream = self.turn.open("edit_file").await;
        for piece in WRITTEN.split_inclusive(' ') {
            self.pace.pause(STROKE).await;
            stream.grow(piece);
        }
        stream.complete().await;
        Ok(())
    }

    async fn tests(&self) -> Told {
        self.scene("4  A run with live output; a rule allows exactly this command")
            .await?;
        let input = json!({"command": "sh tests/run.sh"});
        self.call("run_command", input).await.await;
        Ok(())
    }

    async fn forbidden(&self) -> Told {
        self.scene("5  What the policy forbids never starts, and the model learns why")
            .await?;
        let input = json!({"command": "cd src && rm -rf ."});
        let outcome = self.call("run_command", input).await.await;
        self.tell_model(&outcome)
    }

    async fn cancelled(&self) -> Told {
        self.scene("6  A call is cancelled in the middle; its processes end, its output stays")
            .await?;
        let mut events = self.engine.journal().follow(FOLLOWED);
        let input = json!({"command": "sh watch.sh"});
        let watching = self.call("run_command", input).await;
        let mut bytes = 0;
        while bytes < WATCHING.len() as u64 {
            let Ok(shown) = events.recv().await else {
                break;
            };
            if let (Event::Printed(printed), true) =
                (&shown.event, shown.call.id() == watching.id())
            {
                bytes = printed.to;
            }
        }
        self.pace.pause(500).await;
        self.cancel(watching.id());
        let outcome = watching.await;
        self.tell_model(&outcome)
    }

    async fn plan(&self) -> Told {
        self.scene("7  A plan for the editor, and a guest's tool that says how far it is")
            .await?;
        let todos = json!([
            {"content": "Greet properly", "status": "completed"},
            {"content": "Count the words", "status": "in_progress", "priority": "low"},
        ]);
        self.call("todo_write", json!({"todos": todos})).await.await;
        let paths = ["README.md", "src/greet.sh", "tests/run.sh", "watch.sh"];
        self.call("count_words", json!({"paths": paths}))
            .await
            .await;
        Ok(())
    }

    async fn mistakes(&self) -> Told {
        self.scene("8  Mistakes of the model are answered so that it can mend them")
            .await?;
        self.call("edit_file", replace("ehco \"Hello", "echo \"Hi"))
            .await
            .await;
        self.pace.pause(BETWEEN_SCENES).await;
        self.call("read_file", json!({"path": 7})).await.await;
        self.pace.pause(BETWEEN_SCENES).await;
        self.call("read_files", json!({"path": "README.md"}))
            .await
            .await;
        Ok(())
    }

    async fn scene(&self, title: &str) -> Told {
        self.pace.pause(BETWEEN_SCENES).await;
        self.narrator.say("")?;
        let options = textwrap::Options::new(width()).subsequent_indent("   ");
        for line in textwrap::wrap(title, options) {
            self.narrator.say(&painted(BOLD, &line))?;
        }
        Ok(())
    }

    async fn call(&self, tool: &str, input: Value) -> CallHandle {
        self.turn.call(ToolRequest::new(tool, input)).await
    }

    fn cancel(&self, id: &CallId) {
        let _had_ended = self.engine.cancel(id);
    }

    fn tell_model(&self, outcome: &Outcome) -> Told {
        let told = outcome.for_model();
        let texts: Vec<&str> = told.content.iter().filter_map(text).collect();
        let said = format!("the model is told: {}", texts.join(" | "));
        for line in wrapped(&said, width()) {
            self.narrator.say(&painted(DIM, &line))?;
        }
        Ok(())
    }
}

fn text(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) => Some(text.trim_end()),
        Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Edit(_)
        | Content::Terminal(_) => None,
    }
}

fn replace(old: &str, new: &str) -> Value {
    let edits = json!([{"type": "replace", "oldText": old, "newText": new}]);
    json!({"path": "src/greet.sh", "edits": edits})
}
