//! What a tool may read while it prepares a call.
//! Nothing here changes a file, and the policy judges every path before a byte of it is read.

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

/// The context of [`Tool::prepare`](crate::Tool::prepare): the input, and read access to files.
pub struct PrepareContext {
    input: Arc<Value>,
    entry: Arc<Entry>,
    host: Arc<dyn Host>,
    gate: Gate,
    read: Mutex<Vec<PathBuf>>,
    /// The paths that were read although the policy would ask about them.
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

    /// Returns the input, which fits the tool's schema.
    pub fn input(&self) -> &Arc<Value> {
        &self.input
    }

    /// Returns the session's directory, its roots and its agent.
    pub fn setting(&self) -> &SessionContext {
        &self.gate.session_context
    }

    /// Returns the absolute form of a path; a relative one starts at the session's directory.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        infer::resolve(&self.gate.session_context.cwd, path)
    }

    /// Infers an intent from the tool's definition and the input. It touches anything.
    pub fn infer(&self) -> Intent {
        self.entry
            .infer(&self.input, &self.gate.session_context.cwd)
    }

    /// Reads a file, for instance to show a diff of it. A path that the policy denies is an error
    /// that ends the call as denied; a path that is read becomes a touch of the intent.
    pub async fn read(&self, path: impl AsRef<Path>) -> Result<FileBody, ToolError> {
        let resolved = self.resolve(path).await?;
        let body = self.host.read(&resolved).await?;
        self.read.lock().push(resolved);
        Ok(body)
    }

    /// Returns what a path holds, for a tool that will delete or move it: see [`Host::inspect`].
    pub async fn inspect(&self, path: impl AsRef<Path>) -> Result<FileBody, ToolError> {
        let resolved = self
            .check_and_resolve(&self.path(path), FinalSymlink::Keep)
            .await??;
        let body = self.host.inspect(&resolved).await?;
        self.read.lock().push(resolved);
        Ok(body)
    }

    /// Reads a file that must be text. See [`PrepareContext::read`].
    pub async fn read_text(&self, path: impl AsRef<Path>) -> Result<Arc<str>, ToolError> {
        let path = self.path(path);
        text_of(self.read(&path).await?, &path)
    }

    /// Reads a file, or returns `None` if it does not exist. See [`PrepareContext::read`].
    pub async fn read_if_exists(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<Option<FileBody>, ToolError> {
        let path = self.path(path);
        let resolved = match self.check_and_resolve(&path, FinalSymlink::Follow).await? {
            Err(HostError::Missing(_)) => return Ok(None),
            resolved => resolved?,
        };
        match self.host.read(&resolved).await {
            Ok(body) => {
                self.read.lock().push(resolved);
                Ok(Some(body))
            }
            Err(HostError::Missing(_)) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Returns whether a path exists: as a file, a directory or a symlink.
    pub async fn is_there(&self, path: impl AsRef<Path>) -> Result<bool, ToolError> {
        let found = match self
            .check_and_resolve(&self.path(path), FinalSymlink::Keep)
            .await?
        {
            Ok(resolved) => self.host.inspect(&resolved).await.map(drop),
            Err(error) => Err(error),
        };
        match found {
            Ok(()) => Ok(true),
            Err(HostError::Missing(_)) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// Returns the path with every symlink followed, or an error where the host denies access. The
    /// policy judges both paths as reads.
    pub async fn resolve(&self, path: impl AsRef<Path>) -> Result<PathBuf, ToolError> {
        Ok(self
            .check_and_resolve(&self.path(path), FinalSymlink::Follow)
            .await??)
    }

    /// Resolves a path that the policy lets the tool read.
    async fn check_and_resolve(
        &self,
        path: &Path,
        last: FinalSymlink,
    ) -> Result<Result<PathBuf, HostError>, ToolError> {
        let mut unapproved = Vec::from_iter(self.check(path)?);
        let resolved = resolve_path(&*self.host, path, last).await;
        if let Ok(resolved) = &resolved {
            if resolved != path {
                unapproved.extend(self.check(resolved)?);
            }
            // Where the host fails, the tool learns nothing that the user would have to permit.
            self.unapproved.lock().extend(unapproved);
        }
        Ok(resolved)
    }

    /// Returns the path if the policy would ask about reading it. It may be read here: the user is
    /// asked about the intent, or about the failure, before anything of it gets out.
    fn check(&self, path: &Path) -> Result<Option<PathBuf>, ToolError> {
        let touch = Touch::Reads(path.to_owned());
        match self.gate.judge(&self.entry.identity, touch) {
            Verdict::Allow { .. } => Ok(None),
            Verdict::Ask { .. } => Ok(Some(path.to_owned())),
            Verdict::Deny { reason, .. } => Err(ToolError::denied(reason)),
        }
    }

    /// Returns the paths that were read although the policy would ask about them.
    pub(crate) fn into_unapproved(self) -> Vec<PathBuf> {
        self.unapproved.into_inner()
    }

    /// Completes an intent: adds the files that were read, absolute paths, a clean title and the
    /// tool's true identity.
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

    /// Adds the resolved paths to an intent. The stated paths stay beside them, and the policy
    /// judges both.
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

    /// Shows the user where a symlink leads, unless it only stands for the session's directory.
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

/// Returns the text of a file, or an error that says what it is instead.
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

/// Returns the path of a touch that includes reading it.
fn touched_path(touch: &Touch) -> Option<&PathBuf> {
    match touch {
        Touch::Reads(path) | Touch::Writes(path) | Touch::Deletes(path) => Some(path),
        Touch::Moves { from, .. } => Some(from),
        Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => None,
    }
}

/// Judges single touches for both contexts.
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
