//! One hostile case: creates its set-up on the disk and converts its input for our tools.
//! It calls no tool.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hostile::fixture::{CANARY, HostileFixture};

/// A case with its own fixture.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) fixture: HostileFixture,
    input: Value,
}

impl Case {
    /// Reads a line of the table and sets it up.
    pub(crate) fn set_up(line: &str) -> Self {
        let case: Value = serde_json::from_str(line).unwrap();
        let fixture = HostileFixture::new();
        for step in case["setup"]["fs"].as_array().into_iter().flatten() {
            let (kind, what) = step.as_object().unwrap().iter().next().unwrap();
            build(&fixture, kind, what);
        }
        Self {
            id: case["id"].as_str().unwrap().to_owned(),
            fixture,
            input: case["input"].clone(),
        }
    }

    /// Returns our name of the tool.
    pub(crate) fn tool(&self) -> &str {
        match self.input["tool"].as_str().unwrap() {
            "delete" => "delete_file",
            "move" => "move_file",
            "search" => "search_files",
            other => other,
        }
    }

    /// Returns the input in the form of our tool.
    pub(crate) fn input(&self) -> Value {
        let args = &self.input["args"];
        let path = || self.located(&args["path"]);
        match self.tool() {
            "search_files" => json!({"query": args["pattern"], "includePattern": args["glob"]}),
            "edit_file" if args["path"].is_string() => {
                let edit =
                    json!({"type": "replace", "oldText": args["old"], "newText": args["new"]});
                json!({"path": path(), "edits": [edit]})
            }
            "run_command" | "edit_file" => args.clone(),
            _ => {
                let mut input = args.clone();
                input["path"] = path();
                input
            }
        }
    }

    /// Returns the command or title of a case about how text is displayed.
    pub(crate) fn shown_text(&self) -> &str {
        self.input["command_or_title"].as_str().unwrap()
    }

    fn located(&self, path: &Value) -> Value {
        match path {
            Value::String(text) => match text.strip_prefix("file://") {
                Some(rest) => format!("file://{}", self.fixture.at(rest).display()).into(),
                None => located(&self.fixture, text).to_str().unwrap().into(),
            },
            repeated => {
                let times = repeated["repeat"][1].as_u64().unwrap();
                let part = repeated["repeat"][0].as_str().unwrap();
                part.repeat(usize::try_from(times).unwrap()).into()
            }
        }
    }
}

/// Returns a relative path as it is, and an absolute one within the fixture; `/proc` and `/dev` are
/// the real ones.
fn located(fixture: &HostileFixture, path: &str) -> PathBuf {
    if path.starts_with('/') && !path.starts_with("/proc") && !path.starts_with("/dev") {
        fixture.at(path)
    } else {
        path.into()
    }
}

fn build(fixture: &HostileFixture, kind: &str, what: &Value) {
    let text = |at: usize| what[at].as_str().unwrap_or_default();
    let name = what.as_str().unwrap_or(text(0));
    let path = fixture.root().join(located(fixture, name));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match kind {
        "file" => fs::write(path, content(text(1))).unwrap(),
        "file_bytes" => fs::write(fixture.root().join(unescaped(name)), text(1)).unwrap(),
        "dir" => {
            fs::create_dir_all(&path).unwrap();
            let mode = u32::from_str_radix(text(1), 8).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        "symlink" | "bind_or_symlink" => link_despite_rights(&located(fixture, text(1)), &path),
        "hardlink" => fs::hard_link(located(fixture, text(1)), path).unwrap(),
        "fifo" => rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap(),
        "sparse" => {
            let file = fs::File::create(path).unwrap();
            file.set_len(what[1].as_u64().unwrap()).unwrap();
        }
        other => panic!("{other} is no kind of set-up"),
    }
}

/// Replaces `s`, which stands for a secret in the table.
fn content(text: &str) -> &str {
    match text {
        "s" => CANARY,
        text => text,
    }
}

/// Decodes `\xff` and the like to bytes.
fn unescaped(name: &str) -> OsString {
    let mut pieces = name.split("\\x");
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (code, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).unwrap());
        bytes.extend(rest.as_bytes());
    }
    OsString::from_vec(bytes)
}

/// Creates a symlink. The directory may be inaccessible already, so that only root can create it;
/// the call is refused either way.
fn link_despite_rights(target: &Path, path: &Path) {
    match symlink(target, path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
        other => other.unwrap(),
    }
}
