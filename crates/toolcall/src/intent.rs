//! What a call is about to do, as plain values: intents, touches, inputs, plans.
//! Nothing here reads, decides or knows a wire format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::command::Command;
use crate::content::{Change, Content, FileEdit};

/// What a tool says it will do, before it does anything.
///
/// Policy judges it, the person is shown it, the schedule orders by it.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// One line for people. Cleaned of control and invisible characters by the engine.
    pub title: String,
    /// The category shown by editors. Display data, never authority.
    pub kind: Kind,
    /// Everything the call may affect. Empty means: nothing outside the call itself.
    pub touches: Vec<Touch>,
    /// What would change or be done, for the person who is asked.
    pub preview: Vec<Content>,
    /// Files the editor may follow along with.
    pub locations: Vec<Location>,
    /// Which tool this is. Filled in by the engine, so that no tool can pose as another.
    pub tool: ToolIdentity,
}

impl Intent {
    /// An intent that touches nothing.
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

    /// Adds something to show to the person who is asked.
    pub fn showing(mut self, content: impl Into<Content>) -> Self {
        self.preview.push(content.into());
        self
    }
}

impl Intent {
    /// The commands that it runs.
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
                if let Change::Moved { to } = &mut edit.change {
                    fix(to);
                }
            }
        }
    }
}

impl Intent {
    /// Whether a path of it may lead elsewhere than it says.
    pub(crate) fn has_paths(&self) -> bool {
        let is_path = |touch: &Touch| touch.paths().next().is_some();
        self.touches.iter().any(is_path)
    }
}

impl Touch {
    /// The files it touches.
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

/// Intents are kept for as long as a history is: the first of a list takes no more room than it needs.
pub(crate) fn push_exact<T>(list: &mut Vec<T>, item: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// Which tool, from where, and with which definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ToolIdentity {
    /// The name that its provider gives it (never an alias).
    pub name: Arc<str>,
    /// Who provides it.
    pub origin: Origin,
    /// What its provider is: a server's command line or address. Empty for tools compiled in.
    pub provider: Arc<str>,
    /// A hash over name, description, input schema, provider and claims: a changed definition is
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
    /// Run by the agent that uses this library, out of our sight.
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
    /// Looks for information.
    Search,
    /// Runs commands or code.
    Execute,
    /// Reasons or plans.
    Think,
    /// Retrieves something from elsewhere.
    Fetch,
    /// Switches the session's mode.
    SwitchMode,
    /// Anything else, and whatever is not known.
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

    /// The name in snake case.
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

/// One thing a call may affect. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Reads a file, or what lies beneath a folder.
    Reads(PathBuf),
    /// Creates or changes a file, or what lies beneath a folder.
    Writes(PathBuf),
    /// Deletes a file or a folder.
    Deletes(PathBuf),
    /// Moves a file or a folder.
    Moves {
        /// Where it is.
        from: PathBuf,
        /// Where it goes.
        to: PathBuf,
    },
    /// Runs a command.
    Runs(Command),
    /// Talks to something outside the machine's files: a host, or `mcp:server/tool`.
    Reaches(Arc<str>),
    /// May affect anything: nobody said what.
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
    /// A file as a whole.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            line: None,
        }
    }

    /// A line of a file, counted from 1; 0 counts as 1.
    pub fn line(path: impl Into<PathBuf>, line: u32) -> Self {
        Self {
            path: path.into(),
            line: Some(line.max(1)),
        }
    }
}

/// What a model hands to a tool, before anything was checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// JSON.
    Json(Arc<Value>),
    /// Text that is not JSON, or is nested deeper than a reader would take; kept as it came.
    Text(Arc<str>),
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Input::Json(Arc::new(value))
    }
}

/// What can be said of a call while its input is still being written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// A title made from what is there.
    pub title: String,
    /// The likely kind.
    pub kind: Kind,
    /// Files named so far.
    pub locations: Vec<Location>,
}

/// What a server claims about a tool. Claims only ever raise caution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// It claims to change nothing.
    pub read_only: Option<bool>,
    /// It claims to destroy, or not to.
    pub destructive: Option<bool>,
    /// It claims to reach beyond the machine, or not to.
    pub open_world: Option<bool>,
}

/// A plan: what will be done, and how far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in order. Empty clears the plan.
    pub entries: Vec<PlanEntry>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: PlanStatus,
    /// How much it matters.
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

/// How much a step of a plan matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// Much.
    High,
    /// As usual.
    #[default]
    Medium,
    /// Little.
    Low,
}
