//! Random trees and random operations: the disk and the model must agree, step by step.
//! It looks at results and at the whole tree, never at how `Files` got there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use toolcall::{FileBody, FileEdit, HostError};

use crate::files::model_tree::{Fault, Node, Tree};
use crate::ground::{Ground, text};

#[derive(Clone, Debug)]
enum Step {
    Read(String),
    Add(String, String),
    Modify(String, String, String),
    Delete(String, String),
    Move(String, String),
    Link(String, String),
}

fn path() -> impl Strategy<Value = String> {
    let name = prop_oneof![8 => "[abc]", 1 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    proptest::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

/// Few different ones, so that a guess is often right.
fn body() -> impl Strategy<Value = String> {
    "[xy]"
}

fn target() -> impl Strategy<Value = String> {
    let absolute = path().prop_map(|path| format!("/{path}"));
    prop_oneof![3 => path(), 1 => absolute, 1 => path().prop_map(|path| format!("../{path}"))]
}

fn step() -> impl Strategy<Value = Step> {
    let before = || prop_oneof![4 => body(), 1 => path()];
    prop_oneof![
        2 => path().prop_map(Step::Read),
        4 => (path(), body()).prop_map(|(path, body)| Step::Add(path, body)),
        2 => (path(), body(), body()).prop_map(|(path, was, is)| Step::Modify(path, was, is)),
        2 => (path(), before()).prop_map(|(path, was)| Step::Delete(path, was)),
        2 => (path(), path()).prop_map(|(path, to)| Step::Move(path, to)),
        2 => (path(), target()).prop_map(|(path, target)| Step::Link(path, target)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_disk_does_what_the_model_does(steps in proptest::collection::vec(step(), 1..40)) {
        let ground = Ground::new();
        let outside = ground.outside();
        let mut tree = Tree::default();
        for step in &steps {
            let expected = in_model(&mut tree, step);
            prop_assert_eq!(on_disk(&ground, step), expected, "{:?}", step);
            prop_assert_eq!(&whole(&ground), &tree, "{:?}", step);
        }
        prop_assert_eq!(ground.outside(), outside);
    }
}

/// What fails leaves the tree as it was.
fn in_model(tree: &mut Tree, step: &Step) -> Result<Option<String>, Fault> {
    let mut next = tree.clone();
    let result = match step {
        Step::Read(path) => next.read(path).map(Some),
        Step::Add(path, body) => next.add(path, body).map(|()| None),
        Step::Modify(path, was, is) => next.modify(path, was, is).map(|()| None),
        Step::Delete(path, was) => next.delete(path, was).map(|()| None),
        Step::Move(path, to) => next.rename(path, to).map(|()| None),
        Step::Link(path, target) => {
            link_in_model(&mut next, path, target);
            Ok(None)
        }
    };
    if result.is_ok() {
        *tree = next;
    }
    result
}

/// Somebody else makes links, by plain names in folders that are there.
fn link_in_model(tree: &mut Tree, path: &str, target: &str) {
    let place: Vec<String> = path.split('/').map(str::to_owned).collect();
    let is_plain = !place.iter().any(|name| name.starts_with('.'));
    let folder = &place[..place.len() - 1];
    let has_folder =
        (1..=folder.len()).all(|end| tree.0.get(&folder[..end]) == Some(&Node::Folder));
    if is_plain && has_folder && !tree.0.contains_key(&place) {
        tree.0.insert(place, Node::Link(target.into()));
    }
}

fn on_disk(ground: &Ground, step: &Step) -> Result<Option<String>, Fault> {
    let files = ground.files();
    let at = |path: &str| ground.path(path);
    let edit = match step {
        Step::Read(path) => return files.read(&at(path)).map(shown).map_err(fault),
        Step::Link(path, target) => {
            link_on_disk(ground, path, target);
            return Ok(None);
        }
        Step::Add(path, body) => FileEdit::added(at(path), &**body),
        Step::Modify(path, was, is) => FileEdit::modified(at(path), &**was, &**is),
        Step::Delete(path, was) => FileEdit::deleted(at(path), text(&on_disk_target(ground, was))),
        Step::Move(path, to) => FileEdit::moved(at(path), at(to)),
    };
    files.apply(&edit).map(|_| None).map_err(fault)
}

fn link_on_disk(ground: &Ground, path: &str, target: &str) {
    let is_plain = !path.split('/').any(|name| name.starts_with('.'));
    let full = ground.path(path);
    let is_no_way_round = full
        .parent()
        .and_then(|folder| folder.canonicalize().ok())
        .is_some_and(|folder| Some(&*folder) == full.parent());
    if is_plain && is_no_way_round {
        let _ = std::os::unix::fs::symlink(on_disk_target(ground, target), full);
    }
}

/// In the model an absolute link starts at the root.
fn on_disk_target(ground: &Ground, target: &str) -> String {
    match target.strip_prefix('/') {
        Some(rest) => format!("{}/{rest}", ground.root().display()),
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

fn fault(error: HostError) -> Fault {
    match error {
        HostError::Missing(_) => Fault::Missing,
        HostError::Changed(_) => Fault::Changed,
        HostError::Exists(_) => Fault::Exists,
        HostError::NotRunnable { .. } | HostError::Other(_) => Fault::Other,
    }
}

/// Everything in the root, as the model has it.
fn whole(ground: &Ground) -> Tree {
    let mut all = BTreeMap::new();
    let root = ground.root();
    for path in ground.inside().into_keys().filter(|path| *path != root) {
        let names = path.strip_prefix(&root).unwrap().iter();
        let place = names
            .map(|name| name.to_str().unwrap().to_owned())
            .collect();
        all.insert(place, node(&path, &root));
    }
    Tree(all)
}

fn node(path: &Path, root: &Path) -> Node {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.is_symlink() {
        let target = fs::read_link(path).unwrap().to_str().unwrap().to_owned();
        Node::Link(target.replace(root.to_str().unwrap(), ""))
    } else if metadata.is_dir() {
        Node::Folder
    } else {
        Node::File(fs::read_to_string(path).unwrap())
    }
}
