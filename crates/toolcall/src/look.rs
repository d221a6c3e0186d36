//! What a tool may look at while it prepares.
//! Looking changes nothing, and every path is judged before a byte of it is read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::content::FileBody;
use crate::host::{Host, HostError};
use crate::infer::{self, LONGEST_TITLE};
use crate::intent::{Intent, Kind, ToolIdentity, Touch};
use crate::locked::locked;
use crate::policy::{Rulebook, Setting, Verdict};
use crate::registry::Entry;
use crate::text::into_clean_line;
use crate::tool::ToolError;

/// A tool's view while it prepares one call.
pub struct Look {
    input: Arc<Value>,
    entry: Arc<Entry>,
    host: Arc<dyn Host>,
    gate: Gate,
    read: Mutex<Vec<PathBuf>>,
    /// Those of them that the policy would ask about.
    asked: Mutex<Vec<PathBuf>>,
}

impl Look {
    pub(crate) fn new(
        input: Arc<Value>,
        entry: Arc<Entry>,
        host: Arc<dyn Host>,
        gate: Gate,
    ) -> Self {
        Self {
            input,
            entry,
            host,
            gate,
            read: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// The checked input.
    pub fn input(&self) -> &Arc<Value> {
        &self.input
    }

    /// The session's folder, its roots and its agent.
    pub fn setting(&self) -> &Setting {
        &self.gate.setting
    }

    /// A path of the input as an absolute one, relative to the session's folder.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        infer::resolve(&self.gate.setting.cwd, path)
    }

    /// The intent as it can be inferred from the tool's definition and input.
    pub fn infer(&self) -> Intent {
        self.entry.infer(&self.input, &self.gate.setting.cwd)
    }

    /// Reads a file for the preview; a relative path starts at the session's folder. A path that
    /// the policy denies ends the call; one that is read is added to the intent.
    pub async fn read(&self, path: impl AsRef<Path>) -> Result<FileBody, ToolError> {
        let path = self.path(path);
        self.check(&path)?;
        let body = self.host.read(&path).await?;
        locked(&self.read).push(path);
        Ok(body)
    }

    /// Like [`Look::read`], for a file that must be text.
    pub async fn read_text(&self, path: impl AsRef<Path>) -> Result<Arc<str>, ToolError> {
        let path = self.path(path);
        text_of(self.read(&path).await?, &path)
    }

    /// Like [`Look::read`], with nothing where there is no file.
    pub async fn read_if_there(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<Option<FileBody>, ToolError> {
        let path = self.path(path);
        self.check(&path)?;
        match self.host.read(&path).await {
            Ok(body) => {
                locked(&self.read).push(path);
                Ok(Some(body))
            }
            Err(HostError::Missing(_)) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// What would be asked passes here: the intent that results is asked about, and so is a failure.
    fn check(&self, path: &Path) -> Result<(), ToolError> {
        let touch = Touch::Reads(path.to_owned());
        match self.gate.judge(&self.entry.identity, touch) {
            Verdict::Allow { .. } => {}
            Verdict::Ask { .. } => locked(&self.asked).push(path.to_owned()),
            Verdict::Deny { reason, .. } => return Err(ToolError::denied(reason)),
        }
        Ok(())
    }

    /// What was looked at although the policy would ask about it.
    pub(crate) fn into_asked(self) -> Vec<PathBuf> {
        self.asked.into_inner().unwrap_or_default()
    }

    /// The intent with everything that was looked at, absolute paths, a clean title and the tool's
    /// true identity.
    pub(crate) fn complete(self, mut intent: Intent) -> Intent {
        intent.tool = self.entry.identity.clone();
        intent.title = into_clean_line(intent.title, LONGEST_TITLE);
        intent.resolve(|path| infer::resolve(&self.gate.setting.cwd, path));
        for path in self.read.into_inner().unwrap_or_default() {
            let is_touched = |touch: &Touch| touched_path(touch) == Some(&path);
            if !intent.touches.iter().any(is_touched) {
                intent.touches.push(Touch::Reads(path));
            }
        }
        intent
    }
}

/// The text of a file, or why there is none.
pub(crate) fn text_of(body: FileBody, path: &Path) -> Result<Arc<str>, ToolError> {
    match body {
        FileBody::Text(text) => Ok(text),
        FileBody::Binary { bytes } => Err(ToolError::new(format!(
            "`{}` is not text; it has {bytes} bytes",
            path.display()
        ))),
    }
}

/// The path of a touch that includes reading it.
fn touched_path(touch: &Touch) -> Option<&PathBuf> {
    match touch {
        Touch::Reads(path) | Touch::Writes(path) | Touch::Deletes(path) => Some(path),
        Touch::Moves { from, .. } => Some(from),
        Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => None,
    }
}

/// Judges single touches, for looks and scopes alike.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) rulebook: Arc<dyn Rulebook>,
    pub(crate) setting: Arc<Setting>,
}

impl Gate {
    pub(crate) fn judge(&self, tool: &ToolIdentity, touch: Touch) -> Verdict {
        let mut intent = Intent::new(Kind::Other, "look").touching(touch);
        intent.tool = tool.clone();
        self.rulebook.policy().judge(&intent, &self.setting)
    }
}
