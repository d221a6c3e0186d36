//! `/undo`: restores the files that a call of this session changed.
//! A file that changed since is left alone. Only the user can undo; the model cannot.

use std::path::{Path, PathBuf};

use toolcall::CallId;
use toolcall_acp::service::ServiceError;
use toolcall_history::{CallFilter, UndoError, UndoResult};

use crate::markdown::code;
use crate::session::AgentSession;

/// Undoes the named call, or the latest call that can be undone.
pub(super) async fn run(session: &AgentSession, name: &str) -> Result<String, ServiceError> {
    let host = session.resources.host();
    let id = session.id().clone();
    let filter = CallFilter {
        session: Some(id.clone()),
        ..CallFilter::default()
    };
    let calls = session.history.read(move |archive| archive.calls(&filter));
    let calls = calls.await?.into_iter().map(|call| call.id);
    let named: Vec<CallId> = calls
        .filter(|id| name.is_empty() || id.as_str() == name)
        .collect();
    if named.is_empty() && !name.is_empty() {
        let why = format!("there is no call `{name}` in this session; `/history` lists them");
        return Err(ServiceError::InvalidParams(why));
    }
    for call in named {
        let (wanted, id) = (id.clone(), call.clone());
        let kept = session
            .history
            .read(move |archive| Ok(archive.undo_content(&wanted, &id)));
        let kept = match kept.await? {
            Err(UndoError::NotKept) if name.is_empty() => continue,
            kept => kept.map_err(|error| refused(&error))?,
        };
        let plan = kept.look(&*host).await.map_err(|error| refused(&error))?;
        // Undone already: the user means the call before it.
        if name.is_empty() && plan.edits().next().is_none() {
            continue;
        }
        let undone = plan.carry_out(&*host).await;
        let undone = undone.map_err(|error| refused(&error))?;
        return Ok(summary(&call, &undone, session.resources.cwd()));
    }
    Err(ServiceError::InvalidParams(
        "there is nothing to undo in this session".to_owned(),
    ))
}

fn refused(error: &UndoError) -> ServiceError {
    ServiceError::InvalidParams(error.to_string())
}

fn summary(call: &CallId, undone: &UndoResult, cwd: &Path) -> String {
    let line = |path: &PathBuf, how: &str| {
        let path = path.strip_prefix(cwd).unwrap_or(path);
        format!("- {} {how}\n", code(&path.to_string_lossy()))
    };
    let restored = undone
        .restored
        .iter()
        .map(|path| line(path, "is as before"));
    let unchanged = undone.unchanged.iter();
    let unchanged = unchanged.map(|path| line(path, "was as before already"));
    let lines: String = restored.chain(unchanged).collect();
    format!("Undone: {call}\n\n{lines}")
}
