//! `toolcall history`: shows, undoes, exports and deletes recorded calls.
//! `toolcall-history` stores them; this module only presents them.

mod call;
mod export;
mod find;
mod list;
mod maintenance;
mod show;
mod undo;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use toolcall_history::Archive;

use crate::args::{HistoryArgs, HistoryCommand};
use crate::environment::{UserEnvironment, history_file};

pub(crate) use show::{call_json, timeline};

/// Runs a `toolcall history` command.
pub(crate) async fn run(args: HistoryArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        None => list::sessions(&args.filter, args.json),
        Some(HistoryCommand::Show(args)) => show::run(&args),
        Some(HistoryCommand::Search(args)) => list::calls(&args),
        Some(HistoryCommand::Call(args)) => call::run(&args),
        Some(HistoryCommand::Export(args)) => export::run(&args),
        Some(HistoryCommand::Undo(args)) => undo::run(&args).await,
        Some(HistoryCommand::Verify(args)) => maintenance::verify(&args),
        Some(HistoryCommand::Prune(args)) => maintenance::prune(&args),
        Some(HistoryCommand::Forget(args)) => maintenance::forget(&args),
    }
}

/// Opens the user's history; fails if there is none.
pub(crate) fn open() -> anyhow::Result<Archive> {
    match open_if_exists()? {
        Some(archive) => Ok(archive),
        None => bail!("no calls are recorded yet; `toolcall call` records every call"),
    }
}

/// Opens the user's history, if there is one.
pub(crate) fn open_if_exists() -> anyhow::Result<Option<Archive>> {
    let path = path()?;
    if !path.exists() {
        return Ok(None);
    }
    let opened = Archive::open(&path);
    let archive = opened.with_context(|| format!("`{}` cannot be read", path.display()))?;
    Ok(Some(archive))
}

fn path() -> anyhow::Result<PathBuf> {
    Ok(history_file(&UserEnvironment::from_env()?.dirs))
}
