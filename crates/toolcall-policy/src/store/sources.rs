//! Reads every file that rules come from.
//! It reports the state of each file; combining their rules is done in `store.rs`.

use std::path::{Path, PathBuf};

use super::PolicyStoreConfig;
use super::fingerprint::Fingerprint;
use super::remembered::RememberedRulesFile;
use super::repository::read_repository;
use super::secure_files::{self, Owner};
use super::trust::{POLICY, TrustStore};
use super::user_dirs::UserDirs;
use crate::error::PolicyError;
use crate::layer::{Layer, LayerSource, PolicyText, Trust};
use crate::rule_effect::RuleEffect;
use crate::rules::RuleContext;

/// The policy files of a session, as they were read.
#[derive(Debug)]
pub struct PolicySources {
    files: Vec<PolicyFile>,
    helpers: Vec<String>,
    fingerprints: Vec<Fingerprint>,
}

/// A policy file and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Where it is.
    pub path: PathBuf,
    /// Which layer it belongs to.
    pub scope: LayerSource,
    /// Whether it exists and can be used.
    pub state: FileState,
}

/// The state of a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// The file does not exist.
    Absent,
    /// All of its rules hold.
    Active(Layer),
    /// The user has not trusted it, so its allow rules are ignored.
    Untrusted(Layer),
    /// It cannot be used, so every call is denied.
    Broken(PolicyError),
}

impl PolicySources {
    /// Reads every file that the rules of a session come from.
    pub fn read(config: &PolicyStoreConfig) -> Self {
        let mut sources = Self {
            files: Vec::new(),
            helpers: Vec::new(),
            fingerprints: Vec::new(),
        };
        sources.read_own(config);
        for root in &config.roots {
            sources.read_project(root, config);
        }
        sources
    }

    /// Returns the files, including those that do not exist.
    pub fn files(&self) -> &[PolicyFile] {
        &self.files
    }

    /// Returns the layers of all files, or the error of the first broken one.
    pub(super) fn layers(&self) -> Result<Vec<Layer>, PolicyError> {
        let mut layers = Vec::new();
        for file in &self.files {
            match &file.state {
                FileState::Absent => {}
                FileState::Active(layer) | FileState::Untrusted(layer) => {
                    layers.push(layer.clone());
                }
                FileState::Broken(error) => return Err(error.clone()),
            }
        }
        Ok(layers)
    }

    pub(super) fn rule_context(&self, config: &PolicyStoreConfig) -> RuleContext {
        let UserDirs {
            config: config_dir,
            state,
        } = &config.places;
        let named = [config_dir.clone(), state.clone(), config.places.policy()];
        // The targets of symlinks are protected, too, because calls are judged by resolved paths.
        let real = named.iter().filter_map(|path| path.canonicalize().ok());
        let real: Vec<PathBuf> = real.filter(|path| !named.contains(path)).collect();
        RuleContext {
            own_files: named.iter().cloned().chain(real).collect(),
            git_helpers: self.helpers.clone(),
        }
    }

    pub(super) fn into_fingerprints(self) -> Vec<Fingerprint> {
        self.fingerprints
    }

    fn read_own(&mut self, config: &PolicyStoreConfig) {
        let places = &config.places;
        self.add(&places.policy(), LayerSource::User, config);
        let everywhere = RememberedRulesFile::everywhere(places);
        self.add(everywhere.path(), LayerSource::Remembered, config);
        if let Some(project) = config.roots.first() {
            let remembered = RememberedRulesFile::of_project(places, project);
            self.add(remembered.path(), LayerSource::Remembered, config);
        }
    }

    fn read_project(&mut self, root: &Path, config: &PolicyStoreConfig) {
        let trusts = TrustStore::new(&config.places);
        self.fingerprints.push(Fingerprint::of(&trusts.path(root)));
        self.add(
            &UserDirs::project_policy(root),
            LayerSource::Project,
            config,
        );
        let repository = read_repository(root);
        self.helpers.extend(repository.helpers);
        self.fingerprints.extend(repository.fingerprints);
    }

    fn add(&mut self, path: &Path, scope: LayerSource, config: &PolicyStoreConfig) {
        self.fingerprints.push(Fingerprint::of(path));
        let state = state(path, scope, config).unwrap_or_else(FileState::Broken);
        self.files.push(PolicyFile {
            path: path.to_owned(),
            scope,
            state,
        });
    }
}

fn state(
    path: &Path,
    scope: LayerSource,
    config: &PolicyStoreConfig,
) -> Result<FileState, PolicyError> {
    let owner = match scope {
        LayerSource::Project => Owner::Workspace,
        LayerSource::User | LayerSource::Flags | LayerSource::Remembered => Owner::User,
    };
    let Some(text) = secure_files::read(path, owner)? else {
        return Ok(FileState::Absent);
    };
    let trust = match scope {
        LayerSource::Project => trust_in(path, &text, config)?,
        LayerSource::User | LayerSource::Flags | LayerSource::Remembered => Trust::Trusted,
    };
    let layer = Layer::parse(PolicyText {
        file: &shown(path, config),
        text: &text,
        scope,
        trust,
        home: config.home.as_deref(),
    })?;
    let may_allow = |layer: &Layer| {
        layer
            .rules()
            .iter()
            .any(|rule| rule.effect() == RuleEffect::Allow)
    };
    Ok(match trust {
        Trust::Untrusted if may_allow(&layer) => FileState::Untrusted(layer),
        Trust::Trusted | Trust::Untrusted => FileState::Active(layer),
    })
}

/// Returns whether the user has trusted this text as the policy of its project.
fn trust_in(path: &Path, text: &str, config: &PolicyStoreConfig) -> Result<Trust, PolicyError> {
    let is_of = |root: &&PathBuf| UserDirs::project_policy(root) == path;
    match config.roots.iter().find(is_of) {
        Some(root) => TrustStore::new(&config.places).trust_in(root, POLICY, text),
        None => Ok(Trust::Untrusted),
    }
}

/// Returns a path relative to the project or to the home directory, for messages.
fn shown(path: &Path, config: &PolicyStoreConfig) -> String {
    let from_root = |root: &PathBuf| path.strip_prefix(root).ok();
    if let Some(path) = config.roots.iter().find_map(from_root) {
        return path.display().to_string();
    }
    let home = config.home.as_ref();
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(path) => format!("~/{}", path.display()),
        None => path.display().to_string(),
    }
}
