//! The files of the workspace as the rules see them.
//! It judges nothing and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use super::file::File;
use super::unique::by_name;

/// Folders that are not ours to judge.
const FOREIGN: [&str; 3] = [".git", "node_modules", "target"];

/// Every path below the root, and the text of the files that rules read.
#[derive(Default)]
pub(crate) struct Tree {
    /// Files and folders, from the root, written with `/`.
    pub(crate) paths: BTreeSet<String>,
    pub(crate) files: Vec<File>,
    /// Where each public type is defined, once somebody asked for it.
    public_types: OnceLock<BTreeMap<String, Vec<String>>>,
}

impl Tree {
    /// Reads the tree below `root`.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.enter(root, "")?;
        Ok(tree)
    }

    /// A tree that holds just these files.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            let folders = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
            tree.paths.extend(folders);
            tree.paths.insert((*path).to_owned());
            tree.files.push(File::new(path, text));
        }
        tree
    }

    /// Where each public type is defined; gathered once, for it takes every file apart.
    pub(crate) fn public_types(&self) -> &BTreeMap<String, Vec<String>> {
        self.public_types.get_or_init(|| by_name(&self.files))
    }

    fn enter(&mut self, folder: &Path, prefix: &str) -> Result<(), String> {
        let unreadable = |error| format!("`{}` cannot be read: {error}", folder.display());
        let mut entries: Vec<_> = fs::read_dir(folder)
            .and_then(Iterator::collect::<io::Result<_>>)
            .map_err(unreadable)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().display().to_string();
            let path = format!("{prefix}{name}");
            if entry.file_type().map_err(unreadable)?.is_dir() {
                self.add_folder(&entry.path(), &name, path)?;
            } else {
                self.add_file(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path, name: &str, path: String) -> Result<(), String> {
        if is_foreign(folder, name) {
            return Ok(());
        }
        let prefix = format!("{path}/");
        self.paths.insert(path);
        self.enter(folder, &prefix)
    }

    fn add_file(&mut self, file: &Path, path: String) -> Result<(), String> {
        if is_read(&path) {
            let text = fs::read_to_string(file)
                .map_err(|error| format!("`{path}` cannot be read: {error}"))?;
            self.files.push(File::new(&path, &text));
        }
        self.paths.insert(path);
        Ok(())
    }
}

/// Build folders (cargo tags them as caches) and other checkouts are left out.
fn is_foreign(folder: &Path, name: &str) -> bool {
    FOREIGN.contains(&name) || folder.join("CACHEDIR.TAG").exists() || folder.join(".git").exists()
}

fn is_read(path: &str) -> bool {
    let pages = ["ARCHITECTURE.md", "README.md", "docs/invariants.md"];
    path.ends_with(".rs") || path.ends_with("Cargo.toml") || pages.contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_tree_holds_this_file_and_no_build_folder() {
        let tree = Tree::read(&crate::root()).unwrap();
        assert!(tree.paths.contains("xtask/src/tidy/tree.rs"));
        assert!(tree.paths.contains("crates/toolcall"));
        assert!(tree.files.iter().any(|file| file.path == "Cargo.toml"));
        assert!(!tree.paths.contains("target"));
        assert!(!tree.paths.contains(".git"));
    }
}
