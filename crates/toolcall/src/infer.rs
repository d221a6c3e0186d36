//! Infers the sketch and the intent of a call whose tool states none.
//! Inference can only make the engine more careful; it is never a reason to allow.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::arguments;
use crate::intent::{Intent, Kind, Location, Sketch, Touch};
use crate::kind::{self, Evidence};
use crate::text::clean_line;
use crate::title;
use crate::tool::ToolDefinition;

/// The longest title, in graphemes.
pub(crate) const LONGEST_TITLE: usize = 240;
const MOST_LOCATIONS: usize = 16;
/// More are covered by `Touch::Unknown`, which is always added.
const MOST_TOUCHES: usize = 64;

/// Infers a sketch from the tool's name and kind and the input so far.
pub(crate) fn sketch(tool: &str, kind: Kind, input: Option<&Value>) -> Sketch {
    let mut locations = arguments::locations(input);
    locations.truncate(MOST_LOCATIONS);
    Sketch {
        title: title::infer(tool, kind, input),
        kind,
        locations,
    }
}

/// Limits the size of a sketch that a tool made.
pub(crate) fn bounded(mut sketch: Sketch) -> Sketch {
    sketch.title = clean_line(&sketch.title, LONGEST_TITLE);
    sketch.locations.truncate(MOST_LOCATIONS);
    sketch
}

/// Infers the kind of a tool from its definition.
pub(crate) fn kind_of(definition: &ToolDefinition) -> Kind {
    kind::infer(&evidence(definition, None))
}

fn evidence<'a>(definition: &'a ToolDefinition, input: Option<&'a Value>) -> Evidence<'a> {
    Evidence {
        stated: definition.kind,
        name: &definition.name,
        schema: Some(&definition.input_schema),
        input,
        annotations: definition.annotations,
    }
}

/// Infers the kind of a call: its arguments may show what the definition leaves open.
pub(crate) fn kind_with(definition: &ToolDefinition, known: Kind, input: &Value) -> Kind {
    match known {
        Kind::Other => kind::infer(&evidence(definition, Some(input))),
        Kind::Read
        | Kind::Edit
        | Kind::Delete
        | Kind::Move
        | Kind::Search
        | Kind::Execute
        | Kind::Think
        | Kind::Fetch
        | Kind::SwitchMode => known,
    }
}

/// Infers the intent of a call whose tool states none: it may touch anything, and certainly the
/// paths in its arguments.
pub(crate) fn intent(tool: &str, kind: Kind, input: &Value, cwd: &Path) -> Intent {
    let sketch = sketch(tool, kind, Some(input));
    let paths = arguments::paths(Some(input))
        .into_iter()
        .map(|path| resolve(cwd, &*arguments::file_path(path)));
    let mut intent = Intent::new(sketch.kind, sketch.title).touching(Touch::Unknown);
    intent.locations = sketch.locations;
    for path in paths.take(MOST_TOUCHES) {
        let is_listed = |location: &Location| location.path == path;
        if !intent.locations.iter().any(is_listed) {
            intent.locations.push(Location::file(path.clone()));
        }
        intent.touches.push(match sketch.kind {
            Kind::Read | Kind::Search => Touch::Reads(path),
            Kind::Edit
            | Kind::Delete
            | Kind::Move
            | Kind::Execute
            | Kind::Think
            | Kind::Fetch
            | Kind::SwitchMode
            | Kind::Other => Touch::Writes(path),
        });
    }
    intent
}

/// Returns the absolute path, with `.` and `..` removed textually. Symlinks are left to the host.
pub(crate) fn resolve(cwd: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    let mut joined = PathBuf::with_capacity(cwd.as_os_str().len() + 1 + path.as_os_str().len());
    joined.push(cwd);
    joined.push(path);
    if is_plain(&joined) {
        return joined;
    }
    let mut resolved = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(resolved.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                resolved.push(component);
            }
        }
    }
    resolved
}

/// Returns whether the path has no component that is empty or begins with a dot.
fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_suspect = |pair: &[u8]| pair[0] == b'/' && (pair[1] == b'.' || pair[1] == b'/');
    cfg!(unix)
        && bytes.first() == Some(&b'/')
        && bytes.last() != Some(&b'/')
        && !bytes.windows(2).any(is_suspect)
}
