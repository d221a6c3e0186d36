//! `toolcall history`: what was called, told from what was kept.
//! It shows, undoes and forgets; what is kept is the library's business.

mod call;
mod export;
mod find;
mod list;
mod show;
mod undo;
mod upkeep;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use toolcall_history::Archive;

use crate::args::{HistoryTask, Remembering};
use crate::places::{Person, history_file};

pub(crate) use show::{call_json, timeline};

/// Does what was asked of the history.
pub(crate) async fn run(wanted: Remembering) -> anyhow::Result<ExitCode> {
    match wanted.task {
        None => list::sessions(&wanted.wanted, wanted.json),
        Some(HistoryTask::Show(showing)) => show::run(&showing),
        Some(HistoryTask::Search(searching)) => list::calls(&searching),
        Some(HistoryTask::Call(calling)) => call::run(&calling),
        Some(HistoryTask::Export(exporting)) => export::run(&exporting),
        Some(HistoryTask::Undo(undoing)) => undo::run(&undoing).await,
        Some(HistoryTask::Verify(verifying)) => upkeep::verify(&verifying),
        Some(HistoryTask::Prune(pruning)) => upkeep::prune(&pruning),
        Some(HistoryTask::Forget(leaving)) => upkeep::forget(&leaving),
    }
}

/// This person's history, which must be there.
pub(crate) fn open() -> anyhow::Result<Archive> {
    match open_if_there()? {
        Some(archive) => Ok(archive),
        None => bail!("nothing was recorded yet; `toolcall call` records every call"),
    }
}

/// This person's history, if there is one.
pub(crate) fn open_if_there() -> anyhow::Result<Option<Archive>> {
    let path = path()?;
    if !path.exists() {
        return Ok(None);
    }
    let opened = Archive::open(&path);
    let archive = opened.with_context(|| format!("`{}` cannot be read", path.display()))?;
    Ok(Some(archive))
}

fn path() -> anyhow::Result<PathBuf> {
    Ok(history_file(&Person::here()?.places))
}
