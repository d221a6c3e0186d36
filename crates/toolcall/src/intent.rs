//! What a call is about to do, as plain values: intents, touches, inputs, plans.
//! Nothing here reads, decides or knows a wire format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::command::Command;
use crate::content::{Content, FileChange, FileEdit};

/// What a tool will do, stated before it does anything.
///
/// The policy judges it, the user sees it, and the schedule orders calls by it.
///
/// ```
/// use toolcall::{FileEdit, Intent, Kind, Touch};
///
/// let edit = FileEdit::modified("/project/notes.md", "buy milk", "buy bread");
/// let intent = Intent::new(Kind::Edit, "Edit notes.md").editing(edit);
/// assert_eq!(intent.touches, [Touch::Writes("/project/notes.md".into())]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// One line for users. The engine cleans it of control and invisible characters.
    pub title: String,
    /// The category that editors show. No policy may rely on it.
    pub kind: Kind,
    /// Everything the call may affect. Empty means nothing outside the call itself.
    pub touches: Vec<Touch>,
    /// What the user is shown before answering, such as diffs.
    pub preview: Vec<Content>,
    /// Files that an editor may follow.
    pub locations: Vec<Location>,
    /// Which tool this is. The engine sets it, so that no tool can pose as another.
    pub tool: ToolIdentity,
}

impl Intent {
    /// Creates an intent that touches nothing.
    pub fn new(kind: Kind, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            kind,
            touches: Vec::new(),
            preview: Vec::new(),
            locations: Vec::new(),
            tool: ToolIdentity::default(),
        }
    }

    /// Adds one touch.
    pub fn touching(mut self, touch: Touch) -> Self {
        push_exact(&mut self.touches, touch);
        self
    }

    /// Adds a file that is read, as touch and as location.
    pub fn reading(self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.at(Location::file(path.clone()))
            .touching(Touch::Reads(path))
    }

    /// Adds a file edit: its touch, its location and its preview.
    pub fn editing(mut self, edit: FileEdit) -> Self {
        self.locations.push(Location::file(edit.path.clone()));
        self.touches.push(edit.touch());
        self.preview.push(Content::Edit(edit));
        self
    }

    /// Adds a command that is run.
    pub fn running(self, command: Command) -> Self {
        self.touching(Touch::Runs(command))
    }

    /// Adds a location for editors that follow along.
    pub fn at(mut self, location: Location) -> Self {
        push_exact(&mut self.locations, location);
        self
    }

    /// Adds content that the user is shown before answering.
    pub fn showing(mut self, content: impl Into<Content>) -> Self {
        self.preview.push(content.into());
        self
    }
}

impl Intent {
    /// Returns the commands that the call runs.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.touches.iter().filter_map(|touch| match touch {
            Touch::Runs(command) => Some(command),
            Touch::Reads(_)
            | Touch::Writes(_)
            | Touch::Deletes(_)
            | Touch::Moves { .. }
            | Touch::Reaches(_)
            | Touch::Unknown => None,
        })
    }

    /// Makes every relative path absolute.
    pub(crate) fn resolve(&mut self, absolute: impl Fn(&Path) -> PathBuf) {
        let fix = |path: &mut PathBuf| {
            if path.is_relative() {
                *path = absolute(path);
            }
        };
        self.locations
            .iter_mut()
            .for_each(|location| fix(&mut location.path));
        self.touches
            .iter_mut()
            .flat_map(Touch::paths_mut)
            .for_each(fix);
        for content in &mut self.preview {
            if let Content::Edit(edit) = content {
                fix(&mut edit.path);
                if let FileChange::Moved { to } = &mut edit.change {
                    fix(to);
                }
            }
        }
    }
}

impl Intent {
    /// Returns whether it has paths, which may be symlinks.
    pub(crate) fn has_paths(&self) -> bool {
        let is_path = |touch: &Touch| touch.paths().next().is_some();
        self.touches.iter().any(is_path)
    }
}

impl Touch {
    /// Returns the paths that it touches.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let (first, second) = match self {
            Touch::Reads(path) | Touch::Writes(path) | Touch::Deletes(path) => (Some(path), None),
            Touch::Moves { from, to } => (Some(from), Some(to)),
            Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => (None, None),
        };
        first.into_iter().chain(second)
    }

    fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let (first, second) = match self {
            Touch::Reads(path) | Touch::Writes(path) | Touch::Deletes(path) => (Some(path), None),
            Touch::Moves { from, to } => (Some(from), Some(to)),
            Touch::Runs(command) => (Some(&mut command.cwd), None),
            Touch::Reaches(_) | Touch::Unknown => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Pushes an item without spare capacity for the first one: intents are kept as long as their
/// session.
pub(crate) fn push_exact<T>(list: &mut Vec<T>, item: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// Identifies a tool by name, provider and definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ToolIdentity {
    /// The provider's own name for the tool, never an alias.
    pub name: Arc<str>,
    /// Who provides it.
    pub origin: Origin,
    /// The provider's command line or address. Empty for tools that are compiled in.
    pub provider: Arc<str>,
    /// A hash of name, description, input schema, provider and claims: a changed definition is
    /// another tool.
    pub digest: Arc<str>,
}

/// Who provides a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Compiled into this program.
    #[default]
    Local,
    /// Served by the MCP server of this name.
    Mcp(Arc<str>),
    /// Run by the agent that uses this library, where the engine cannot observe it.
    Agent,
}

/// The category of a call, as editors show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Reads files or data.
    Read,
    /// Changes files or content.
    Edit,
    /// Removes files or data.
    Delete,
    /// Moves or renames files.
    Move,
    /// Searches for information.
    Search,
    /// Runs commands or code.
    Execute,
    /// Reasons or plans.
    Think,
    /// Retrieves data from the network.
    Fetch,
    /// Switches the session's mode.
    SwitchMode,
    /// Anything else, and everything unknown.
    #[default]
    Other,
}

impl Kind {
    /// Every kind, in the order of the protocol's own list.
    pub const ALL: [Kind; 10] = [
        Kind::Read,
        Kind::Edit,
        Kind::Delete,
        Kind::Move,
        Kind::Search,
        Kind::Execute,
        Kind::Think,
        Kind::Fetch,
        Kind::SwitchMode,
        Kind::Other,
    ];

    /// Returns the name in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Edit => "edit",
            Kind::Delete => "delete",
            Kind::Move => "move",
            Kind::Search => "search",
            Kind::Execute => "execute",
            Kind::Think => "think",
            Kind::Fetch => "fetch",
            Kind::SwitchMode => "switch_mode",
            Kind::Other => "other",
        }
    }
}

/// One thing that a call may affect. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Reads a file, or anything beneath a directory.
    Reads(PathBuf),
    /// Creates or changes a file, or anything beneath a directory.
    Writes(PathBuf),
    /// Deletes a file or a directory.
    Deletes(PathBuf),
    /// Moves a file or a directory.
    Moves {
        /// The old path.
        from: PathBuf,
        /// The new path.
        to: PathBuf,
    },
    /// Runs a command.
    Runs(Command),
    /// Connects to something other than files: a host name, or `mcp:server/tool`.
    Reaches(Arc<str>),
    /// May affect anything: the tool did not state what.
    Unknown,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The absolute path.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u32>,
}

impl Location {
    /// Creates a location for a whole file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            line: None,
        }
    }

    /// Creates a location for a line, counted from 1; 0 counts as 1.
    pub fn line(path: impl Into<PathBuf>, line: u32) -> Self {
        Self {
            path: path.into(),
            line: Some(line.max(1)),
        }
    }
}

/// The input of a call as the model wrote it, unchecked.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// JSON.
    Json(Arc<Value>),
    /// Text that is not JSON, or JSON that is nested too deeply to parse; unchanged.
    Text(Arc<str>),
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Input::Json(Arc::new(value))
    }
}

/// What is known about a call while the model is still writing its input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// A title from the input so far.
    pub title: String,
    /// The likely kind.
    pub kind: Kind,
    /// Files named so far.
    pub locations: Vec<Location>,
}

/// What a server claims about a tool. Claims can only make the engine more careful.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// Whether it claims to change nothing.
    pub read_only: Option<bool>,
    /// Whether it claims to destroy data.
    pub destructive: Option<bool>,
    /// Whether it claims to reach beyond the machine.
    pub open_world: Option<bool>,
}

/// A plan: its steps, and how far each is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in order. Empty clears the plan.
    pub entries: Vec<PlanEntry>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// What the step does.
    pub content: String,
    /// How far the step is.
    pub status: PlanStatus,
    /// How important the step is.
    pub priority: Priority,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// How important a step of a plan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// High.
    High,
    /// Medium.
    #[default]
    Medium,
    /// Low.
    Low,
}
