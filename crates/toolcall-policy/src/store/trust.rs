//! What people trusted of a project: the content itself, so that a change can be shown.
//! Nothing of a project is run or read as a rule here.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolcall::Timestamp;

use super::guarded::{self, Owner};
use super::places::{UserDirs, digest, file_name, written};
use crate::error::PolicyError;
use crate::layer::Trust;

/// The policy of a project, from its folder.
pub(super) const POLICY: &str = ".toolcall/policy.toml";

/// What of a project may loosen rules or start programs.
const NAMES: [&str; 2] = [POLICY, ".mcp.json"];

/// The files of a project that need trust, as they are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Where it is.
    pub folder: PathBuf,
    /// The files that are there.
    pub files: Vec<ProjectFile>,
}

/// A file and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectFile {
    /// Its path from the project's folder.
    pub name: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Its content.
    pub text: String,
}

/// What was trusted of a project, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustRecord {
    /// The project.
    pub folder: PathBuf,
    /// When, as RFC 3339.
    pub when: String,
    /// The files as they were.
    pub files: Vec<ProjectFile>,
}

/// How a file stands to what was trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is what was trusted.
    Same(ProjectFile),
    /// Nobody has trusted it.
    New(ProjectFile),
    /// Something else was trusted.
    Changed {
        /// What was trusted.
        was: ProjectFile,
        /// What is there now.
        is: ProjectFile,
    },
    /// It was trusted and is no longer there.
    Gone(ProjectFile),
}

/// The records of trust.
#[derive(Clone, Debug)]
pub struct TrustStore {
    folder: PathBuf,
}

impl Project {
    /// Reads the files of a project.
    pub fn read(folder: &Path) -> Result<Self, PolicyError> {
        let mut files = Vec::new();
        for name in NAMES {
            if let Some(text) = guarded::read(&folder.join(name), Owner::Workspace)? {
                files.push(ProjectFile {
                    name: name.to_owned(),
                    sha256: digest(text.as_bytes()),
                    text,
                });
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            files,
        })
    }
}

impl TrustStore {
    /// The records that are kept here.
    pub fn new(places: &UserDirs) -> Self {
        Self {
            folder: places.trusted(),
        }
    }

    /// What was trusted of a project.
    pub fn record(&self, folder: &Path) -> Result<Option<TrustRecord>, PolicyError> {
        let path = self.path(folder);
        let Some(text) = guarded::read(&path, Owner::Person)? else {
            return Ok(None);
        };
        let record: TrustRecord = serde_json::from_str(&text).map_err(|error| {
            let problem = format!("it is no record of trust: {error}");
            PolicyError::of_file(&path, problem, "run `toolcall trust` again")
        })?;
        Ok(Some(record).filter(|record| record.folder == folder))
    }

    /// How the files of a project stand to what was trusted.
    pub fn changes(&self, project: &Project) -> Result<Vec<Change>, PolicyError> {
        let record = self.record(&project.folder)?;
        let trusted = record.map(|record| record.files).unwrap_or_default();
        let mut changes: Vec<Change> = project
            .files
            .iter()
            .map(|is| change(is, trusted.iter().find(|was| was.name == is.name)))
            .collect();
        let is_gone = |was: &ProjectFile| !project.files.iter().any(|is| is.name == was.name);
        changes.extend(trusted.into_iter().filter(is_gone).map(Change::Gone));
        Ok(changes)
    }

    /// Whether exactly this content of a file was trusted.
    pub fn trust_in(&self, folder: &Path, name: &str, text: &str) -> Result<Trust, PolicyError> {
        let record = self.record(folder)?;
        let sha256 = digest(text.as_bytes());
        let is_it = |file: &ProjectFile| file.name == name && file.sha256 == sha256;
        Ok(
            match record.is_some_and(|record| record.files.iter().any(is_it)) {
                true => Trust::Trusted,
                false => Trust::Untrusted,
            },
        )
    }

    /// TrustStore the files of a project as they were read.
    pub fn trust(&self, project: &Project, when: Timestamp) -> Result<(), PolicyError> {
        let record = TrustRecord {
            folder: project.folder.clone(),
            when: written(when),
            files: project.files.clone(),
        };
        let path = self.path(&project.folder);
        let text = serde_json::to_string_pretty(&record).map_err(|error| {
            PolicyError::of_file(&path, error.to_string(), "name the folder in UTF-8")
        })?;
        guarded::write(&path, &text)
    }

    /// Takes trust back. Says whether there was any.
    pub fn revoke(&self, folder: &Path) -> Result<bool, PolicyError> {
        let path = self.path(folder);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(PolicyError::of_file(
                &path,
                format!("it cannot be removed: {error}"),
                "remove the file yourself",
            )),
        }
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        self.folder.join(file_name(folder, "json"))
    }
}

fn change(is: &ProjectFile, was: Option<&ProjectFile>) -> Change {
    match was {
        None => Change::New(is.clone()),
        Some(was) if was.sha256 == is.sha256 => Change::Same(is.clone()),
        Some(was) => Change::Changed {
            was: was.clone(),
            is: is.clone(),
        },
    }
}
