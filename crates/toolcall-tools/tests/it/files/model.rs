//! Random trees and random operations: the disk and the model must agree, step by step.
//! It looks at results and at the whole tree, never at how `Files` got there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use toolcall::{FileBody, FileEdit, HostError};

use crate::files::model_tree::{ModelError, ModelNode, ModelTree};
use crate::ground::{Ground, text};

#[derive(Clone, Debug)]
enum ModelOperation {
    Read(String),
    Add(String, String),
    Modify(String, String, String),
    Delete(String, String),
    Move(String, String),
    Symlink(String, String),
}

fn path() -> impl Strategy<Value = String> {
    let name = prop_oneof![8 => "[abc]", 1 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    proptest::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

/// Few different bodies, so that the expected content is often right.
fn body() -> impl Strategy<Value = String> {
    "[xy]"
}

fn target() -> impl Strategy<Value = String> {
    let absolute = path().prop_map(|path| format!("/{path}"));
    prop_oneof![3 => path(), 1 => absolute, 1 => path().prop_map(|path| format!("../{path}"))]
}

fn operation() -> impl Strategy<Value = ModelOperation> {
    let before = || prop_oneof![4 => body(), 1 => path()];
    prop_oneof![
        2 => path().prop_map(ModelOperation::Read),
        4 => (path(), body()).prop_map(|(path, body)| ModelOperation::Add(path, body)),
        2 => (path(), body(), body()).prop_map(|(path, was, is)| ModelOperation::Modify(path, was, is)),
        2 => (path(), before()).prop_map(|(path, was)| ModelOperation::Delete(path, was)),
        2 => (path(), path()).prop_map(|(path, to)| ModelOperation::Move(path, to)),
        2 => (path(), target()).prop_map(|(path, target)| ModelOperation::Symlink(path, target)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_disk_does_what_the_model_does(operations in proptest::collection::vec(operation(), 1..40)) {
        let fixture = Ground::new();
        let outside = fixture.outside();
        let mut tree = ModelTree::default();
        for operation in &operations {
            let expected = in_model(&mut tree, operation);
            prop_assert_eq!(on_disk(&fixture, operation), expected, "{:?}", operation);
            prop_assert_eq!(&whole(&fixture), &tree, "{:?}", operation);
        }
        prop_assert_eq!(fixture.outside(), outside);
    }
}

/// Applies an operation to the model. A failure leaves the tree as it was.
fn in_model(
    tree: &mut ModelTree,
    operation: &ModelOperation,
) -> Result<Option<String>, ModelError> {
    let mut next = tree.clone();
    let result = match operation {
        ModelOperation::Read(path) => next.read(path).map(Some),
        ModelOperation::Add(path, body) => next.add(path, body).map(|()| None),
        ModelOperation::Modify(path, was, is) => next.modify(path, was, is).map(|()| None),
        ModelOperation::Delete(path, was) => next.delete(path, was).map(|()| None),
        ModelOperation::Move(path, to) => next.rename(path, to).map(|()| None),
        ModelOperation::Symlink(path, target) => {
            link_in_model(&mut next, path, target);
            Ok(None)
        }
    };
    if result.is_ok() {
        *tree = next;
    }
    result
}

/// Creates a symlink as another process would: by a plain name in an existing directory.
fn link_in_model(tree: &mut ModelTree, path: &str, target: &str) {
    let path_names: Vec<String> = path.split('/').map(str::to_owned).collect();
    let is_plain = !path_names.iter().any(|name| name.starts_with('.'));
    let dir = &path_names[..path_names.len() - 1];
    let has_directory =
        (1..=dir.len()).all(|end| tree.0.get(&dir[..end]) == Some(&ModelNode::Directory));
    if is_plain && has_directory && !tree.0.contains_key(&path_names) {
        tree.0.insert(path_names, ModelNode::Symlink(target.into()));
    }
}

fn on_disk(fixture: &Ground, operation: &ModelOperation) -> Result<Option<String>, ModelError> {
    let files = fixture.files();
    let at = |path: &str| fixture.path(path);
    let edit = match operation {
        ModelOperation::Read(path) => return files.read(&at(path)).map(shown).map_err(model_error),
        ModelOperation::Symlink(path, target) => {
            link_on_disk(fixture, path, target);
            return Ok(None);
        }
        ModelOperation::Add(path, body) => FileEdit::added(at(path), &**body),
        ModelOperation::Modify(path, was, is) => FileEdit::modified(at(path), &**was, &**is),
        ModelOperation::Delete(path, was) => {
            FileEdit::deleted(at(path), text(&on_disk_target(fixture, was)))
        }
        ModelOperation::Move(path, to) => FileEdit::moved(at(path), at(to)),
    };
    files.apply(&edit).map(|_| None).map_err(model_error)
}

fn link_on_disk(fixture: &Ground, path: &str, target: &str) {
    let is_plain = !path.split('/').any(|name| name.starts_with('.'));
    let full = fixture.path(path);
    let is_no_way_round = full
        .parent()
        .and_then(|dir| dir.canonicalize().ok())
        .is_some_and(|dir| Some(&*dir) == full.parent());
    if is_plain && is_no_way_round {
        let _ = std::os::unix::fs::symlink(on_disk_target(fixture, target), full);
    }
}

/// Converts a symlink target: in the model an absolute one starts at the root.
fn on_disk_target(fixture: &Ground, target: &str) -> String {
    match target.strip_prefix('/') {
        Some(rest) => format!("{}/{rest}", fixture.root().display()),
        None => target.to_owned(),
    }
}

fn shown(body: FileBody) -> Option<String> {
    match body {
        FileBody::Text(text) => Some(text.to_string()),
        FileBody::Binary { bytes, .. } | FileBody::Folder { bytes, .. } => {
            panic!("{bytes} bytes that are no text")
        }
    }
}

fn model_error(error: HostError) -> ModelError {
    match error {
        HostError::Missing(_) => ModelError::Missing,
        HostError::Changed(_) => ModelError::Changed,
        HostError::Exists(_) => ModelError::Exists,
        HostError::NotRunnable { .. } | HostError::Other(_) => ModelError::Other,
    }
}

/// Returns everything in the root as a model tree.
fn whole(fixture: &Ground) -> ModelTree {
    let mut all = BTreeMap::new();
    let root = fixture.root();
    for path in fixture.inside().into_keys().filter(|path| *path != root) {
        let names = path.strip_prefix(&root).unwrap().iter();
        let path_names = names
            .map(|name| name.to_str().unwrap().to_owned())
            .collect();
        all.insert(path_names, node(&path, &root));
    }
    ModelTree(all)
}

fn node(path: &Path, root: &Path) -> ModelNode {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.is_symlink() {
        let target = fs::read_link(path).unwrap().to_str().unwrap().to_owned();
        ModelNode::Symlink(target.replace(root.to_str().unwrap(), ""))
    } else if metadata.is_dir() {
        ModelNode::Directory
    } else {
        ModelNode::File(fs::read_to_string(path).unwrap())
    }
}
