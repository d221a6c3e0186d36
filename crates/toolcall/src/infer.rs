//! What can be said of a call whose tool says nothing: sketch and intent by inference.
//! Inference only ever raises caution; what it finds is never a reason to allow.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::arguments;
use crate::intent::{Intent, Kind, Location, Sketch, Touch};
use crate::kind::{self, Evidence};
use crate::text::clean_line;
use crate::title;
use crate::tool::Definition;

/// In characters as people see them.
pub(crate) const LONGEST_TITLE: usize = 240;
const MOST_LOCATIONS: usize = 16;
/// More are covered by `Touch::Unknown`, which stands beside them.
const MOST_TOUCHES: usize = 64;

/// The sketch of a call from its tool's name and kind and what is there of its input.
pub(crate) fn sketch(tool: &str, kind: Kind, input: Option<&Value>) -> Sketch {
    let mut locations = arguments::locations(input);
    locations.truncate(MOST_LOCATIONS);
    Sketch {
        title: title::infer(tool, kind, input),
        kind,
        locations,
    }
}

/// A sketch that stays small, whoever made it.
pub(crate) fn bounded(mut sketch: Sketch) -> Sketch {
    sketch.title = clean_line(&sketch.title, LONGEST_TITLE);
    sketch.locations.truncate(MOST_LOCATIONS);
    sketch
}

/// The kind of a tool, by what it says and by what its definition looks like.
pub(crate) fn kind_of(definition: &Definition) -> Kind {
    kind::infer(&evidence(definition, None))
}

fn evidence<'a>(definition: &'a Definition, input: Option<&'a Value>) -> Evidence<'a> {
    Evidence {
        stated: definition.kind,
        name: &definition.name,
        schema: Some(&definition.input_schema),
        input,
        annotations: definition.annotations,
    }
}

/// The kind of a call: its arguments may tell what the definition left open.
pub(crate) fn kind_with(definition: &Definition, known: Kind, input: &Value) -> Kind {
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

/// The intent of a call whose tool states none: it may touch anything, and surely what its
/// arguments name.
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

/// The absolute path, with `.` and `..` worked out by the letter. Links are the host's business.
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

/// Whether there is nothing to work out: no component that begins with a dot, none that is empty.
fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_suspect = |pair: &[u8]| pair[0] == b'/' && (pair[1] == b'.' || pair[1] == b'/');
    cfg!(unix)
        && bytes.first() == Some(&b'/')
        && bytes.last() != Some(&b'/')
        && !bytes.windows(2).any(is_suspect)
}
