//! Every file that rules come from, as it was read at one moment.
//! It reads and reports; what the rules say together is put together elsewhere.

use std::path::{Path, PathBuf};

use super::PolicyStoreConfig;
use super::fingerprint::Fingerprint;
use super::guarded::{self, Owner};
use super::kept::RememberedRulesFile;
use super::places::UserDirs;
use super::repository::look_around;
use super::trust::{POLICY, TrustStore};
use crate::error::PolicyError;
use crate::layer::{Layer, LayerSource, PolicyText, Trust};
use crate::rule_effect::RuleEffect;
use crate::rules::RuleContext;

/// The files that rules come from.
#[derive(Debug)]
pub struct PolicySources {
    files: Vec<PolicyFile>,
    helpers: Vec<String>,
    fingerprints: Vec<Fingerprint>,
}

/// One file and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: LayerSource,
    /// What became of it.
    pub state: FileState,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// There is none.
    Absent,
    /// It holds as it stands.
    Holds(Layer),
    /// Nobody has trusted it, so what it allows is left out.
    OnlyTightens(Layer),
    /// It cannot be used, so nothing is allowed.
    Broken(PolicyError),
}

impl PolicySources {
    /// Reads every file that the rules of a session come from.
    pub fn read(settings: &PolicyStoreConfig) -> Self {
        let mut sources = Self {
            files: Vec::new(),
            helpers: Vec::new(),
            fingerprints: Vec::new(),
        };
        sources.read_own(settings);
        for root in &settings.roots {
            sources.read_project(root, settings);
        }
        sources
    }

    /// The files, whether they are there or not.
    pub fn files(&self) -> &[PolicyFile] {
        &self.files
    }

    /// The layers of all files, or what is wrong with the first broken one.
    pub(super) fn layers(&self) -> Result<Vec<Layer>, PolicyError> {
        let mut layers = Vec::new();
        for file in &self.files {
            match &file.state {
                FileState::Absent => {}
                FileState::Holds(layer) | FileState::OnlyTightens(layer) => {
                    layers.push(layer.clone());
                }
                FileState::Broken(error) => return Err(error.clone()),
            }
        }
        Ok(layers)
    }

    pub(super) fn facts(&self, settings: &PolicyStoreConfig) -> RuleContext {
        let UserDirs { config, state } = &settings.places;
        let named = [config.clone(), state.clone(), settings.places.policy()];
        // Where links lead is protected, too: calls are judged by where their paths lead.
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

    fn read_own(&mut self, settings: &PolicyStoreConfig) {
        let places = &settings.places;
        self.add(&places.policy(), LayerSource::User, settings);
        let everywhere = RememberedRulesFile::everywhere(places);
        self.add(everywhere.path(), LayerSource::Remembered, settings);
        if let Some(project) = settings.roots.first() {
            let kept = RememberedRulesFile::of_project(places, project);
            self.add(kept.path(), LayerSource::Remembered, settings);
        }
    }

    fn read_project(&mut self, root: &Path, settings: &PolicyStoreConfig) {
        let trusts = TrustStore::new(&settings.places);
        self.fingerprints.push(Fingerprint::of(&trusts.path(root)));
        self.add(
            &UserDirs::project_policy(root),
            LayerSource::Project,
            settings,
        );
        let repository = look_around(root);
        self.helpers.extend(repository.helpers);
        self.fingerprints.extend(repository.fingerprints);
    }

    fn add(&mut self, path: &Path, scope: LayerSource, settings: &PolicyStoreConfig) {
        self.fingerprints.push(Fingerprint::of(path));
        let state = state(path, scope, settings).unwrap_or_else(FileState::Broken);
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
    settings: &PolicyStoreConfig,
) -> Result<FileState, PolicyError> {
    let owner = match scope {
        LayerSource::Project => Owner::Workspace,
        LayerSource::User | LayerSource::Flags | LayerSource::Remembered => Owner::Person,
    };
    let Some(text) = guarded::read(path, owner)? else {
        return Ok(FileState::Absent);
    };
    let trust = match scope {
        LayerSource::Project => trust_in(path, &text, settings)?,
        LayerSource::User | LayerSource::Flags | LayerSource::Remembered => Trust::Trusted,
    };
    let layer = Layer::parse(PolicyText {
        file: &shown(path, settings),
        text: &text,
        scope,
        trust,
        home: settings.home.as_deref(),
    })?;
    let may_allow = |layer: &Layer| {
        layer
            .rules()
            .iter()
            .any(|rule| rule.stance() == RuleEffect::Allow)
    };
    Ok(match trust {
        Trust::Untrusted if may_allow(&layer) => FileState::OnlyTightens(layer),
        Trust::Trusted | Trust::Untrusted => FileState::Holds(layer),
    })
}

/// Whether the person has trusted this text as the policy of its project.
fn trust_in(path: &Path, text: &str, settings: &PolicyStoreConfig) -> Result<Trust, PolicyError> {
    let is_of = |root: &&PathBuf| UserDirs::project_policy(root) == path;
    match settings.roots.iter().find(is_of) {
        Some(root) => TrustStore::new(&settings.places).trust_in(root, POLICY, text),
        None => Ok(Trust::Untrusted),
    }
}

/// A path as people say it: from the project or from home.
fn shown(path: &Path, settings: &PolicyStoreConfig) -> String {
    let from_root = |root: &PathBuf| path.strip_prefix(root).ok();
    if let Some(path) = settings.roots.iter().find_map(from_root) {
        return path.display().to_string();
    }
    let home = settings.home.as_ref();
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(path) => format!("~/{}", path.display()),
        None => path.display().to_string(),
    }
}
