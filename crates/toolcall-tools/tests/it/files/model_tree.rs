//! A tree of files in memory, as simple as can be: what `Files` must do, without handles and races.
//! It shares no code with what it is compared to.

use std::collections::{BTreeMap, VecDeque};

/// What a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File(String),
    Folder,
    /// Its text; an absolute one starts at the root.
    Link(String),
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    Changed,
    Exists,
    Other,
}

/// The names from the root to something.
pub(crate) type Place = Vec<String>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree(pub(crate) BTreeMap<Place, Node>);

/// Whether folders on the way are made, and whether a link at the end is followed.
#[derive(Clone, Copy)]
pub(crate) struct Manner {
    makes_folders: bool,
    follows_last: bool,
}

const READING: Manner = Manner {
    makes_folders: false,
    follows_last: true,
};
const ITSELF: Manner = Manner {
    makes_folders: false,
    follows_last: false,
};
const MAKING: Manner = Manner {
    makes_folders: true,
    follows_last: false,
};

impl Tree {
    /// Where a path leads. The root itself and what ends like a folder are no places for a file.
    fn find(&mut self, path: &str, manner: Manner) -> Result<Place, Fault> {
        let mut ahead: VecDeque<String> = split(path);
        let mut here = Place::new();
        let mut links = 0;
        while let Some(name) = ahead.pop_front() {
            if name == "." {
                continue;
            }
            if name == ".." {
                here.pop().ok_or(Fault::Other)?;
                continue;
            }
            here.push(name);
            match self.0.get(&here) {
                Some(Node::Link(target)) if !ahead.is_empty() || manner.follows_last => {
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
                Some(Node::Folder) => {}
                Some(Node::File(_) | Node::Link(_)) => return Err(Fault::Other),
                None if !manner.makes_folders => return Err(Fault::Missing),
                None if ahead.iter().any(|name| name == "..") => return Err(Fault::Missing),
                None => drop(self.0.insert(here.clone(), Node::Folder)),
            }
            if links > 40 {
                return Err(Fault::Other);
            }
        }
        Err(Fault::Other)
    }

    pub(crate) fn read(&mut self, path: &str) -> Result<String, Fault> {
        let place = self.find(path, READING)?;
        match self.0.get(&place) {
            Some(Node::File(body)) => Ok(body.clone()),
            Some(Node::Folder | Node::Link(_)) => Err(Fault::Other),
            None => Err(Fault::Missing),
        }
    }

    pub(crate) fn add(&mut self, path: &str, body: &str) -> Result<(), Fault> {
        let place = self.find(path, MAKING)?;
        match self.0.contains_key(&place) {
            true => Err(Fault::Exists),
            false => {
                self.0.insert(place, Node::File(body.into()));
                Ok(())
            }
        }
    }

    pub(crate) fn modify(&mut self, path: &str, before: &str, after: &str) -> Result<(), Fault> {
        match self.read(path)? == before {
            true => {
                let place = self.find(path, READING)?;
                self.0.insert(place, Node::File(after.into()));
                Ok(())
            }
            false => Err(Fault::Changed),
        }
    }

    pub(crate) fn delete(&mut self, path: &str, before: &str) -> Result<(), Fault> {
        let place = self.find(path, ITSELF)?;
        let is_same = match self.0.get(&place).cloned() {
            None => return Err(Fault::Missing),
            Some(Node::Folder) => return Err(Fault::Other),
            Some(Node::File(body)) => body == before,
            Some(Node::Link(target)) => {
                target == before || self.read(path).is_ok_and(|body| body == before)
            }
        };
        match is_same {
            true => drop(self.0.remove(&place)),
            false => return Err(Fault::Changed),
        }
        Ok(())
    }

    pub(crate) fn rename(&mut self, path: &str, to: &str) -> Result<(), Fault> {
        let from = self.find(path, ITSELF)?;
        if !self.0.contains_key(&from) {
            return Err(Fault::Missing);
        }
        let to = self.find(to, MAKING)?;
        if self.0.contains_key(&to) {
            return Err(Fault::Exists);
        }
        if to.starts_with(&from) {
            return Err(Fault::Other);
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

/// A dot says that a folder is meant; in the middle it says nothing.
fn split(path: &str) -> VecDeque<String> {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}
