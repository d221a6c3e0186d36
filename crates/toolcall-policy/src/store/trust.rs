//! Trust records: the content of the project files that the user trusted, so that a change can be shown.
//! It neither runs anything of a project nor parses its rules.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolcall::Timestamp;

use super::secure_files::{self, Owner};
use super::user_dirs::{UserDirs, digest, file_name, format_timestamp};
use crate::error::PolicyError;
use crate::layer::Trust;

/// The policy file of a project, relative to its directory.
pub(super) const POLICY: &str = ".toolcall/policy.toml";

/// The files of a project that may loosen rules or start programs.
const NAMES: [&str; 2] = [POLICY, ".mcp.json"];

/// The files of a project that need trust, as they are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its directory.
    pub directory: PathBuf,
    /// The files that exist.
    pub files: Vec<ProjectFile>,
}

/// A project file and its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectFile {
    /// Its path, relative to the project's directory.
    pub name: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Its content.
    pub text: String,
}

/// What the user trusted of a project, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustRecord {
    /// The directory of the project.
    #[serde(rename = "folder")]
    pub directory: PathBuf,
    /// When it was trusted, as RFC 3339.
    pub when: String,
    /// The files as they were then.
    pub files: Vec<ProjectFile>,
}

/// The difference between a project file and what was trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustChange {
    /// The trusted content is unchanged.
    Same(ProjectFile),
    /// The file was never trusted.
    New(ProjectFile),
    /// The content has changed since it was trusted.
    Changed {
        /// The trusted file.
        was: ProjectFile,
        /// The file as it is now.
        is: ProjectFile,
    },
    /// The file was trusted and no longer exists.
    Gone(ProjectFile),
}

/// The trust records of the user, one file for each project.
#[derive(Clone, Debug)]
pub struct TrustStore {
    directory: PathBuf,
}

impl Project {
    /// Reads the files of a project that need trust.
    pub fn read(directory: &Path) -> Result<Self, PolicyError> {
        let mut files = Vec::new();
        for name in NAMES {
            if let Some(text) = secure_files::read(&directory.join(name), Owner::Workspace)? {
                files.push(ProjectFile {
                    name: name.to_owned(),
                    sha256: digest(text.as_bytes()),
                    text,
                });
            }
        }
        Ok(Self {
            directory: directory.to_owned(),
            files,
        })
    }
}

impl TrustStore {
    /// Opens the records in the user's state directory.
    pub fn new(places: &UserDirs) -> Self {
        Self {
            directory: places.trusted(),
        }
    }

    /// Returns what was trusted of a project.
    pub fn record(&self, directory: &Path) -> Result<Option<TrustRecord>, PolicyError> {
        let path = self.path(directory);
        let Some(text) = secure_files::read(&path, Owner::User)? else {
            return Ok(None);
        };
        let record: TrustRecord = serde_json::from_str(&text).map_err(|error| {
            let problem = format!("it is not a trust record: {error}");
            PolicyError::of_file(&path, problem, "run `toolcall trust` again")
        })?;
        Ok(Some(record).filter(|record| record.directory == directory))
    }

    /// Compares the files of a project with what was trusted.
    pub fn changes(&self, project: &Project) -> Result<Vec<TrustChange>, PolicyError> {
        let record = self.record(&project.directory)?;
        let trusted = record.map(|record| record.files).unwrap_or_default();
        let mut changes: Vec<TrustChange> = project
            .files
            .iter()
            .map(|is| change(is, trusted.iter().find(|was| was.name == is.name)))
            .collect();
        let is_gone = |was: &ProjectFile| !project.files.iter().any(|is| is.name == was.name);
        changes.extend(trusted.into_iter().filter(is_gone).map(TrustChange::Gone));
        Ok(changes)
    }

    /// Returns whether exactly this content of a file was trusted.
    pub fn trust_in(&self, directory: &Path, name: &str, text: &str) -> Result<Trust, PolicyError> {
        let record = self.record(directory)?;
        let sha256 = digest(text.as_bytes());
        let is_it = |file: &ProjectFile| file.name == name && file.sha256 == sha256;
        Ok(
            if record.is_some_and(|record| record.files.iter().any(is_it)) {
                Trust::Trusted
            } else {
                Trust::Untrusted
            },
        )
    }

    /// Records that the user trusts the files of a project as they were read.
    pub fn trust(&self, project: &Project, when: Timestamp) -> Result<(), PolicyError> {
        let record = TrustRecord {
            directory: project.directory.clone(),
            when: format_timestamp(when),
            files: project.files.clone(),
        };
        let path = self.path(&project.directory);
        let text = serde_json::to_string_pretty(&record).map_err(|error| {
            PolicyError::of_file(
                &path,
                error.to_string(),
                "rename the directory to valid UTF-8",
            )
        })?;
        secure_files::write(&path, &text)
    }

    /// Removes the trust record of a project. Returns whether there was one.
    pub fn revoke(&self, directory: &Path) -> Result<bool, PolicyError> {
        let path = self.path(directory);
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

    pub(super) fn path(&self, directory: &Path) -> PathBuf {
        self.directory.join(file_name(directory, "json"))
    }
}

fn change(is: &ProjectFile, was: Option<&ProjectFile>) -> TrustChange {
    match was {
        None => TrustChange::New(is.clone()),
        Some(was) if was.sha256 == is.sha256 => TrustChange::Same(is.clone()),
        Some(was) => TrustChange::Changed {
            was: was.clone(),
            is: is.clone(),
        },
    }
}
