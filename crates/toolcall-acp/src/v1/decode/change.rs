//! Decodes file changes that v1 cannot express, from the `_meta` that our encoder puts on a text item.
//! It must not guess: if the `_meta` cannot be read, the text is kept as it is.

use serde_json::{Map, Value};
use toolcall::{FileBody, FileChange, FileEdit};

use super::locations;
use super::members::{count, text};
use crate::finding::{Findings, LintRule};
use crate::meta;

/// Decodes a change. Adds a finding if it cannot be read.
pub(super) fn read(mark: &Value, findings: &mut Findings) -> Option<FileEdit> {
    let edit = mark.as_object().and_then(|map| edit(map, findings));
    if edit.is_none() {
        findings.note(LintRule::ContentShape, || {
            format!("`{}` cannot be read; its text was kept", meta::CHANGE)
        });
    }
    edit
}

fn edit(map: &Map<String, Value>, findings: &mut Findings) -> Option<FileEdit> {
    let path = text(map, "path", findings)?;
    let after = body(map, "bytes", findings);
    let before = body(map, "before_bytes", findings);
    let change = match text(map, "how", findings)? {
        "moved" => {
            let to = text(map, "to", findings)?;
            locations::check(to, findings);
            FileChange::Moved { to: to.into() }
        }
        "added" => FileChange::Added { after },
        "modified" => FileChange::Modified { before, after },
        "deleted" => FileChange::Deleted { before },
        _ => return None,
    };
    locations::check(path, findings);
    Some(FileEdit {
        path: path.into(),
        change,
    })
}

fn body(map: &Map<String, Value>, key: &str, findings: &mut Findings) -> FileBody {
    let bytes = count(map, key, findings).unwrap_or_default();
    let digest = None;
    if !map.contains_key("files") {
        return FileBody::Binary { bytes, digest };
    }
    FileBody::Folder {
        files: count(map, "files", findings).unwrap_or_default(),
        bytes,
        digest,
    }
}
