//! Fixtures to test engines with: a few tools, a host in memory, a log of every event.
//! It asserts nothing itself.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Notify;
use toolcall::*;
pub(crate) use toolcall_testkit::tools::{custom, definition, registry_of, text_of};

/// Every event with its call, in the order in which the journal sent them.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<(CallId, Event)>>>);

impl Log {
    pub(crate) fn reader(&self) -> impl Reader {
        let log = self.clone();
        move |call: &ToolCall, event: &Event| {
            log.0
                .lock()
                .unwrap()
                .push((call.id().clone(), event.clone()));
        }
    }

    pub(crate) fn all(&self) -> Vec<(CallId, Event)> {
        self.0.lock().unwrap().clone()
    }

    /// The names of one call's events.
    pub(crate) fn names(&self, call: &CallId) -> Vec<&'static str> {
        let log = self.0.lock().unwrap();
        log.iter()
            .filter(|(id, _)| id == call)
            .map(|(_, event)| event.name())
            .collect()
    }

    /// `call event` for every event, without the passing ones.
    pub(crate) fn order(&self) -> Vec<String> {
        let lasting = self
            .all()
            .into_iter()
            .filter(|(_, event)| !event.is_passing());
        lasting
            .map(|(id, event)| format!("{id} {}", event.name()))
            .collect()
    }
}

/// Reads a file and states so.
pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReadInput {
    /// The file.
    path: PathBuf,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a file";
    const ALIASES: &'static [&'static str] = &["cat_file"];
    type Input = ReadInput;
    type Output = String;

    async fn prepare(
        &self,
        input: &ReadInput,
        context: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let title = format!("Read {}", input.path.display());
        Ok(Intent::new(Kind::Read, title).reading(context.path(&input.path)))
    }

    async fn run(&self, input: ReadInput, context: &RunContext) -> Result<String, ToolError> {
        match context.read(&context.path(&input.path)).await? {
            FileBody::Text(text) => Ok(text.to_string()),
            FileBody::Binary { bytes, .. } | FileBody::Folder { bytes, .. } => {
                Err(ToolError::new(format!("{bytes} bytes of no text")))
            }
        }
    }
}

/// Replaces a text in a file, shown as a diff first.
pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct EditInput {
    /// The file.
    path: PathBuf,
    /// The text to replace.
    old: String,
    /// The new text.
    new: String,
}

impl EditFile {
    async fn edit(input: &EditInput, path: PathBuf, body: FileBody) -> Result<FileEdit, ToolError> {
        let FileBody::Text(before) = body else {
            return Err(ToolError::new("not a text"));
        };
        if !before.contains(&input.old) {
            return Err(ToolError::new(format!(
                "`{}` is not in the file",
                input.old
            )));
        }
        let after = before.replacen(&input.old, &input.new, 1);
        Ok(FileEdit::modified(path, before, after))
    }
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Edits a file";
    type Input = EditInput;
    type Output = FileEdit;

    async fn prepare(
        &self,
        input: &EditInput,
        context: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let path = context.path(&input.path);
        let body = context.read(&path).await?;
        let edit = Self::edit(input, path, body).await?;
        Ok(Intent::new(Kind::Edit, format!("Edit {}", input.path.display())).editing(edit))
    }

    async fn run(&self, _input: EditInput, context: &RunContext) -> Result<FileEdit, ToolError> {
        let preview = &context.prepared().intent.preview;
        let Some(Content::Edit(edit)) = preview.first() else {
            return Err(ToolError::new("nothing was shown"));
        };
        context.apply(edit).await?;
        Ok(edit.clone())
    }
}

/// A tool that does what the closure does and states that it touches nothing.
pub(crate) fn tool<F, Fut, R>(name: &str, run: F) -> Arc<CustomTool>
where
    F: Fn(Arc<Value>, RunContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: Into<ToolResult>,
{
    let (tool, name) = (custom(name, run), name.to_owned());
    Arc::new(tool.preparing(move |_| Ok(Intent::new(Kind::Other, name.clone()))))
}

/// A tool that runs until it is notified or cancelled.
pub(crate) fn waiting(name: &str, bell: &Arc<Notify>) -> Arc<CustomTool> {
    let bell = bell.clone();
    tool(name, move |_, context| {
        let bell = bell.clone();
        async move {
            context.print("waiting");
            tokio::select! {
                () = bell.notified() => Ok("the bell rang"),
                () = context.cancelled() => Err(ToolError::new("cleaned up")),
            }
        }
    })
}

pub(crate) fn registry(tools: impl IntoIterator<Item = Arc<CustomTool>>) -> Registry {
    let mut registry = Registry::new();
    registry.add(ReadFile).unwrap().add(EditFile).unwrap();
    for tool in tools {
        registry.add_any(tool).unwrap();
    }
    registry
}

/// An engine with ids `c-1`, `c-2`, … that logs into `log`.
pub(crate) fn engine(registry: Registry, log: &Log) -> EngineBuilder {
    Engine::builder(registry)
        .ids(CallIds::new("c"))
        .reader(log.reader())
        .cwd("/w")
}

pub(crate) fn id(number: usize) -> CallId {
    CallId::new(format!("c-{number}"))
}

/// Lets every task that can run do so.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}
