//! `toolcall history export`: sessions as lines of JSON, to standard output or into a file.
//! The lines are the library's; here they only get a place.

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;
use tempfile::NamedTempFile;
use toolcall_history::{Archive, ExportError, ExportScope};

use super::find;
use super::open;
use crate::args::Exporting;
use crate::screen;

/// Exports.
pub(super) fn run(exporting: &Exporting) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let extents = extents(&archive, exporting)?;
    match &exporting.out {
        None => to_stdout(&archive, &extents)?,
        Some(file) => {
            let records = to_file(&archive, &extents, file)?;
            let told = match exporting.json {
                true => format!("{:#}", json!({"file": file, "records": records})),
                false => format!("{records} records in {}", file.display()),
            };
            screen::print(&[told])?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn extents(archive: &Archive, exporting: &Exporting) -> anyhow::Result<Vec<ExportScope>> {
    if exporting.sessions.is_empty() {
        return Ok(vec![ExportScope::Everything]);
    }
    let found = exporting.sessions.iter().map(|name| {
        let session = find::session(archive, name)?;
        Ok(ExportScope::Session(session.id))
    });
    found.collect()
}

/// Whoever reads may have enough before the end.
fn to_stdout(archive: &Archive, extents: &[ExportScope]) -> anyhow::Result<()> {
    match write(archive, extents, &mut BufWriter::new(stdout().lock())) {
        Ok(_) => Ok(()),
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Written beside its place first: half an export is never taken for a whole one.
fn to_file(archive: &Archive, extents: &[ExportScope], file: &Path) -> anyhow::Result<u64> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    let named = || format!("`{}` cannot be written", file.display());
    let temporary = NamedTempFile::new_in(folder).with_context(named)?;
    let records = write(archive, extents, &mut BufWriter::new(temporary.as_file()))?;
    temporary.persist(file).with_context(named)?;
    Ok(records)
}

fn write(
    archive: &Archive,
    extents: &[ExportScope],
    out: &mut dyn Write,
) -> Result<u64, ExportError> {
    let mut records = 0;
    for extent in extents {
        records += archive.export(extent, out)?;
    }
    out.flush()?;
    Ok(records)
}
