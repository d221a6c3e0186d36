//! A simple model of `Files`: a tree of files in memory, without handles and races.
//! It shares no code with what it is compared to.

use std::collections::{BTreeMap, VecDeque};

/// An entry of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelNode {
    File(String),
    Directory,
    /// A symlink with its target; an absolute target starts at the root.
    Symlink(String),
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelError {
    Missing,
    Changed,
    Exists,
    Other,
}

/// The names from the root to an entry.
pub(crate) type NamePath = Vec<String>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModelTree(pub(crate) BTreeMap<NamePath, ModelNode>);

/// Whether missing directories are created, and whether a symlink at the end is followed.
#[derive(Clone, Copy)]
pub(crate) struct LookupMode {
    creates_directories: bool,
    follows_last: bool,
}

const READING: LookupMode = LookupMode {
    creates_directories: false,
    follows_last: true,
};
const ITSELF: LookupMode = LookupMode {
    creates_directories: false,
    follows_last: false,
};
const CREATING: LookupMode = LookupMode {
    creates_directories: true,
    follows_last: false,
};

impl ModelTree {
    /// Resolves a path. The root and a path that ends like a directory are errors.
    fn find(&mut self, path: &str, mode: LookupMode) -> Result<NamePath, ModelError> {
        let mut ahead: VecDeque<String> = split(path);
        let mut here = NamePath::new();
        let mut links = 0;
        while let Some(name) = ahead.pop_front() {
            if name == "." {
                continue;
            }
            if name == ".." {
                here.pop().ok_or(ModelError::Other)?;
                continue;
            }
            here.push(name);
            match self.0.get(&here) {
                Some(ModelNode::Symlink(target)) if !ahead.is_empty() || mode.follows_last => {
                    links += 1;
                    here.pop();
                    if target.starts_with('/') {
                        here.clear();
                    }
                    split(target)
                        .into_iter()
                        .rev()
                        .for_each(|name| ahead.push_front(name));
                }
                _ if ahead.is_empty() => return Ok(here),
                Some(ModelNode::Directory) => {}
                Some(ModelNode::File(_) | ModelNode::Symlink(_)) => return Err(ModelError::Other),
                None if !mode.creates_directories => return Err(ModelError::Missing),
                None if ahead.iter().any(|name| name == "..") => return Err(ModelError::Missing),
                None => drop(self.0.insert(here.clone(), ModelNode::Directory)),
            }
            if links > 40 {
                return Err(ModelError::Other);
            }
        }
        Err(ModelError::Other)
    }

    pub(crate) fn read(&mut self, path: &str) -> Result<String, ModelError> {
        let path_names = self.find(path, READING)?;
        match self.0.get(&path_names) {
            Some(ModelNode::File(body)) => Ok(body.clone()),
            Some(ModelNode::Directory | ModelNode::Symlink(_)) => Err(ModelError::Other),
            None => Err(ModelError::Missing),
        }
    }

    pub(crate) fn add(&mut self, path: &str, body: &str) -> Result<(), ModelError> {
        let path_names = self.find(path, CREATING)?;
        if self.0.contains_key(&path_names) {
            return Err(ModelError::Exists);
        }
        self.0.insert(path_names, ModelNode::File(body.into()));
        Ok(())
    }

    pub(crate) fn modify(
        &mut self,
        path: &str,
        before: &str,
        after: &str,
    ) -> Result<(), ModelError> {
        if self.read(path)? != before {
            return Err(ModelError::Changed);
        }
        let path_names = self.find(path, READING)?;
        self.0.insert(path_names, ModelNode::File(after.into()));
        Ok(())
    }

    pub(crate) fn delete(&mut self, path: &str, before: &str) -> Result<(), ModelError> {
        let path_names = self.find(path, ITSELF)?;
        let is_same = match self.0.get(&path_names).cloned() {
            None => return Err(ModelError::Missing),
            Some(ModelNode::Directory) => return Err(ModelError::Other),
            Some(ModelNode::File(body)) => body == before,
            Some(ModelNode::Symlink(target)) => {
                target == before || self.read(path).is_ok_and(|body| body == before)
            }
        };
        if !is_same {
            return Err(ModelError::Changed);
        }
        self.0.remove(&path_names);
        Ok(())
    }

    pub(crate) fn rename(&mut self, path: &str, to: &str) -> Result<(), ModelError> {
        let from = self.find(path, ITSELF)?;
        if !self.0.contains_key(&from) {
            return Err(ModelError::Missing);
        }
        let to = self.find(to, CREATING)?;
        if self.0.contains_key(&to) {
            return Err(ModelError::Exists);
        }
        if to.starts_with(&from) {
            return Err(ModelError::Other);
        }
        let moved: Vec<_> = self
            .0
            .keys()
            .filter(|at| at.starts_with(&from))
            .cloned()
            .collect();
        for at in moved {
            let node = self.0.remove(&at).unwrap();
            self.0.insert([&to[..], &at[from.len()..]].concat(), node);
        }
        Ok(())
    }
}

/// Splits a path into names. A dot at the end means a directory; elsewhere it has no effect.
fn split(path: &str) -> VecDeque<String> {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}
