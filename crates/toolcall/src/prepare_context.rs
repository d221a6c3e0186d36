//! What a tool may look at while it prepares.
//! Looking changes nothing, and every path is judged before a byte of it is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::content::{Content, FileBody};
use crate::host::{
    FinalSymlink, Host, HostError, resolve_edit, resolve_or_keep, resolve_path, resolve_touch,
};
use crate::infer::{self, LONGEST_TITLE};
use crate::intent::{Intent, Kind, ToolIdentity, Touch, push_exact};
use crate::policy::{Rulebook, SessionContext, Verdict};
use crate::registry::Entry;
use crate::text::into_clean_line;
use crate::tool::ToolError;

/// A tool's view while it prepares one call.
pub struct PrepareContext {
    input: Arc<Value>,
    entry: Arc<Entry>,
    host: Arc<dyn Host>,
    gate: Gate,
    read: Mutex<Vec<PathBuf>>,
    /// Those of them that the policy would ask about.
    unapproved: Mutex<Vec<PathBuf>>,
}

impl PrepareContext {
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
            unapproved: Mutex::default(),
        }
    }

    /// The checked input.
    pub fn input(&self) -> &Arc<Value> {
        &self.input
    }

    /// The session's folder, its roots and its agent.
    pub fn setting(&self) -> &SessionContext {
        &self.gate.session_context
    }

    /// A path of the input as an absolute one, relative to the session's folder.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        infer::resolve(&self.gate.session_context.cwd, path)
    }

    /// The intent as it can be inferred from the tool's definition and input.
    pub fn infer(&self) -> Intent {
        self.entry
            .infer(&self.input, &self.gate.session_context.cwd)
    }

    /// Reads a file for the preview; a relative path starts at the session's folder. A path that
    /// the policy denies ends the call; one that is read is added to the intent.
    pub async fn read(&self, path: impl AsRef<Path>) -> Result<FileBody, ToolError> {
        let place = self.resolve(path).await?;
        let body = self.host.read(&place).await?;
        self.read.lock().push(place);
        Ok(body)
    }

    /// What there is at a path, for a tool that takes it away: see [`Host::inspect`].
    pub async fn inspect(&self, path: impl AsRef<Path>) -> Result<FileBody, ToolError> {
        let place = self
            .check_and_resolve(&self.path(path), FinalSymlink::Keep)
            .await??;
        let body = self.host.inspect(&place).await?;
        self.read.lock().push(place);
        Ok(body)
    }

    /// Like [`PrepareContext::read`], for a file that must be text.
    pub async fn read_text(&self, path: impl AsRef<Path>) -> Result<Arc<str>, ToolError> {
        let path = self.path(path);
        text_of(self.read(&path).await?, &path)
    }

    /// Like [`PrepareContext::read`], with nothing where there is no file.
    pub async fn read_if_there(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<Option<FileBody>, ToolError> {
        let path = self.path(path);
        let place = match self.check_and_resolve(&path, FinalSymlink::Follow).await? {
            Err(HostError::Missing(_)) => return Ok(None),
            place => place?,
        };
        match self.host.read(&place).await {
            Ok(body) => {
                self.read.lock().push(place);
                Ok(Some(body))
            }
            Err(HostError::Missing(_)) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Whether something is at a path: a file, a folder or a link.
    pub async fn is_there(&self, path: impl AsRef<Path>) -> Result<bool, ToolError> {
        let found = match self
            .check_and_resolve(&self.path(path), FinalSymlink::Keep)
            .await?
        {
            Ok(place) => self.host.inspect(&place).await.map(drop),
            Err(error) => Err(error),
        };
        match found {
            Ok(()) => Ok(true),
            Err(HostError::Missing(_)) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// Where a path leads, with every link followed; it fails where the host would not go. Both
    /// paths are judged as if they were read.
    pub async fn resolve(&self, path: impl AsRef<Path>) -> Result<PathBuf, ToolError> {
        Ok(self
            .check_and_resolve(&self.path(path), FinalSymlink::Follow)
            .await??)
    }

    /// What the host says of a path that may be looked at.
    async fn check_and_resolve(
        &self,
        path: &Path,
        last: FinalSymlink,
    ) -> Result<Result<PathBuf, HostError>, ToolError> {
        let mut unapproved = Vec::from_iter(self.check(path)?);
        let place = resolve_path(&*self.host, path, last).await;
        if let Ok(place) = &place {
            if place != path {
                unapproved.extend(self.check(place)?);
            }
            // Where the host would not go there is nothing to tell, and so nothing to ask.
            self.unapproved.lock().extend(unapproved);
        }
        Ok(place)
    }

    /// What would be unapproved passes here: the intent that results is unapproved about, and so is a
    /// failure. It is told apart.
    fn check(&self, path: &Path) -> Result<Option<PathBuf>, ToolError> {
        let touch = Touch::Reads(path.to_owned());
        match self.gate.judge(&self.entry.identity, touch) {
            Verdict::Allow { .. } => Ok(None),
            Verdict::Ask { .. } => Ok(Some(path.to_owned())),
            Verdict::Deny { reason, .. } => Err(ToolError::denied(reason)),
        }
    }

    /// What was looked at although the policy would ask about it.
    pub(crate) fn into_unapproved(self) -> Vec<PathBuf> {
        self.unapproved.into_inner()
    }

    /// The intent with everything that was looked at, absolute paths, a clean title and the tool's
    /// true identity.
    pub(crate) fn complete(&self, mut intent: Intent) -> Intent {
        intent.tool = self.entry.identity.clone();
        intent.title = into_clean_line(intent.title, LONGEST_TITLE);
        intent.resolve(|path| infer::resolve(&self.gate.session_context.cwd, path));
        for path in self.read.lock().drain(..) {
            let is_touched = |touch: &Touch| touched_path(touch) == Some(&path);
            if !intent.touches.iter().any(is_touched) {
                intent.touches.push(Touch::Reads(path));
            }
        }
        intent
    }

    /// The intent with where its paths really lead. The paths as they were stated stay beside
    /// them: both are judged.
    pub(crate) async fn resolve_symlinks(&self, mut intent: Intent) -> Intent {
        let stated = std::mem::take(&mut intent.touches);
        for touch in stated {
            let resolved = resolve_touch(&*self.host, &touch).await;
            if let (Some(named), Some(real)) = (touched_path(&touch), touched_path(&resolved))
                && named != real
            {
                self.show_symlink_target(&mut intent, named, real).await;
            }
            let both = [Some(&resolved), (resolved != touch).then_some(&touch)];
            for touch in both.into_iter().flatten() {
                if !intent.touches.contains(touch) {
                    push_exact(&mut intent.touches, touch.clone());
                }
            }
        }
        for content in &mut intent.preview {
            if let Content::Edit(edit) = content {
                *edit = resolve_edit(&*self.host, edit).await;
            }
        }
        intent
    }

    /// Who is unapproved sees where a link leads. That the session's own folder was named by a link is
    /// not worth a word.
    async fn show_symlink_target(&self, intent: &mut Intent, named: &Path, real: &Path) {
        for location in &mut intent.locations {
            if location.path == named {
                location.path = real.to_owned();
            }
        }
        let cwd = &self.gate.session_context.cwd;
        let real_cwd = resolve_or_keep(&*self.host, cwd, FinalSymlink::Follow).await;
        let is_plain = |rest: &Path| real_cwd.join(rest) == real;
        if !named.strip_prefix(cwd).is_ok_and(is_plain) {
            let shown = real.strip_prefix(&real_cwd).unwrap_or(real).display();
            let title = format!("{} (leads to {shown})", intent.title);
            intent.title = into_clean_line(title, LONGEST_TITLE);
        }
    }
}

/// The text of a file, or why there is none.
pub(crate) fn text_of(body: FileBody, path: &Path) -> Result<Arc<str>, ToolError> {
    match body {
        FileBody::Text(text) => Ok(text),
        FileBody::Binary { bytes, .. } => Err(ToolError::new(format!(
            "`{}` is not text; it has {bytes} bytes",
            path.display()
        ))),
        FileBody::Folder { .. } => Err(ToolError::new(format!(
            "`{}` is a folder, not a file",
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
    pub(crate) session_context: Arc<SessionContext>,
}

impl Gate {
    pub(crate) fn judge(&self, tool: &ToolIdentity, touch: Touch) -> Verdict {
        let mut intent = Intent::new(Kind::Other, "look").touching(touch);
        intent.tool = tool.clone();
        self.rulebook.policy().judge(&intent, &self.session_context)
    }
}
