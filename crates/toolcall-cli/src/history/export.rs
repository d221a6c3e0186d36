//! `toolcall history export`: writes sessions as JSON lines, to standard output or a file.
//! `toolcall-history` defines their format.

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;
use tempfile::NamedTempFile;
use toolcall_history::{Archive, ExportError, ExportScope};

use super::find;
use super::open;
use crate::args::HistoryExportArgs;
use crate::screen;
use crate::view::pluralize;

/// Exports the sessions.
pub(super) fn run(args: &HistoryExportArgs) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let scopes = scopes(&archive, args)?;
    match &args.out {
        None => to_stdout(&archive, &scopes)?,
        Some(file) => {
            let records = to_file(&archive, &scopes, file)?;
            let report = if args.json {
                format!("{:#}", json!({"file": file, "records": records}))
            } else {
                let records = pluralize(records, "record");
                format!("wrote {records} to {}", file.display())
            };
            screen::print(&[report])?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn scopes(archive: &Archive, args: &HistoryExportArgs) -> anyhow::Result<Vec<ExportScope>> {
    if args.sessions.is_empty() {
        return Ok(vec![ExportScope::Everything]);
    }
    let found = args.sessions.iter().map(|name| {
        let session = find::session(archive, name)?;
        Ok(ExportScope::Session(session.id))
    });
    found.collect()
}

/// A reader may close the pipe before the end.
fn to_stdout(archive: &Archive, scopes: &[ExportScope]) -> anyhow::Result<()> {
    match write(archive, scopes, &mut BufWriter::new(stdout().lock())) {
        Ok(_) => Ok(()),
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Writes a temporary file first, so that a partial export never looks complete.
fn to_file(archive: &Archive, scopes: &[ExportScope], file: &Path) -> anyhow::Result<u64> {
    let directory = match file.parent() {
        Some(directory) if directory != Path::new("") => directory.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    let context = || format!("`{}` cannot be written", file.display());
    let temporary = NamedTempFile::new_in(directory).with_context(context)?;
    let records = write(archive, scopes, &mut BufWriter::new(temporary.as_file()))?;
    temporary.persist(file).with_context(context)?;
    Ok(records)
}

fn write(
    archive: &Archive,
    scopes: &[ExportScope],
    out: &mut dyn Write,
) -> Result<u64, ExportError> {
    let mut records = 0;
    for scope in scopes {
        records += archive.export(scope, out)?;
    }
    out.flush()?;
    Ok(records)
}
