//! Forgets: whole sessions with their texts and undo files, so that their bytes are gone.
//! What is left stays verifiable, because every session is a chain of its own.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, Params, Transaction, TransactionBehavior};
use toolcall::{SessionId, Timestamp};

use crate::error::HistoryError;
use crate::file::{self, beside, patiently};
use crate::record_writer::micros;
use crate::settings::{HistoryConfig, KeepUndo};

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Sessions.
    pub sessions: usize,
    /// Calls of theirs.
    pub calls: usize,
    /// Long texts that no other session needs.
    pub texts: usize,
}

/// Forgets every session of the history at a path that was last heard of before a moment, with its
/// texts and undo files. Their bytes are gone from the file and from its journal. It needs nobody who
/// writes, so that it also makes room where a history has reached its limit.
///
/// Whoever reads for longer than the patience keeps the journal from being emptied: that is
/// [`HistoryError::Busy`], and asking again empties it.
pub fn prune(
    path: &Path,
    older_than: Timestamp,
    settings: &HistoryConfig,
) -> Result<Pruned, HistoryError> {
    forget_some(path, &Which::LastHeardOfBefore(older_than), settings)
}

/// Forgets one session of the history at a path, as [`prune`] does.
pub fn forget(
    path: &Path,
    session: &SessionId,
    settings: &HistoryConfig,
) -> Result<Pruned, HistoryError> {
    forget_some(path, &Which::This(session), settings)
}

/// Which sessions are forgotten.
enum Which<'a> {
    LastHeardOfBefore(Timestamp),
    This(&'a SessionId),
}

fn forget_some(
    path: &Path,
    which: &Which<'_>,
    settings: &HistoryConfig,
) -> Result<Pruned, HistoryError> {
    let mut db = file::open(path, settings.durability)?.db;
    expire_undos(&db, path, settings)?;
    let (pruned, undos) = patiently(settings.patience, || forget_rows(&mut db, which))?;
    for undo in undos {
        let _may_be_gone = fs::remove_file(beside(path, ".undo").join(undo));
    }
    patiently(settings.patience, || empty_journal(&db))?;
    Ok(pruned)
}

fn forget_rows(
    db: &mut Connection,
    which: &Which<'_>,
) -> Result<(Pruned, Vec<String>), HistoryError> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut pruned = Pruned::default();
    let mut undos = Vec::new();
    for session in chosen(&change, which)? {
        undos.extend(undo_files(&change, session)?);
        let texts = ids(
            &change,
            "SELECT blob FROM blob_uses WHERE session = ?1",
            session,
        )?;
        let calls = "DELETE FROM texts WHERE rowid IN (SELECT id FROM calls WHERE session = ?1)";
        change.execute(calls, [session])?;
        let sql = "DELETE FROM calls WHERE session = ?1";
        pruned.calls += change.execute(sql, [session])?;
        change.execute("DELETE FROM sessions WHERE id = ?1", [session])?;
        for text in texts {
            let sql = "DELETE FROM blobs WHERE id = ?1
                       AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = ?1)";
            pruned.texts += change.prepare_cached(sql)?.execute([text])?;
        }
        pruned.sessions += 1;
    }
    if pruned.sessions > 0 {
        // Words of deleted rows stay in the index until it is merged.
        change.execute("INSERT INTO texts(texts) VALUES('optimize')", [])?;
    }
    change.commit()?;
    Ok((pruned, undos))
}

fn chosen(db: &Transaction<'_>, which: &Which<'_>) -> Result<Vec<i64>, HistoryError> {
    match which {
        Which::LastHeardOfBefore(moment) => ids(
            db,
            "SELECT id FROM sessions WHERE latest < ?1",
            micros(*moment),
        ),
        Which::This(session) => {
            let mut find = db.prepare("SELECT id FROM sessions WHERE name = ?1")?;
            let rows = find.query_map([session.as_str()], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        }
    }
}

fn ids(db: &Transaction<'_>, sql: &str, value: i64) -> Result<Vec<i64>, HistoryError> {
    let mut find = db.prepare_cached(sql)?;
    let rows = find.query_map([value], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn undo_files(db: &Transaction<'_>, session: i64) -> Result<Vec<String>, HistoryError> {
    let sql = "SELECT file FROM undos JOIN calls ON calls.id = undos.call WHERE session = ?1";
    let mut find = db.prepare_cached(sql)?;
    let rows = find.query_map([session], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Old pages stay in the journal until it is emptied.
fn empty_journal(db: &Connection) -> Result<(), HistoryError> {
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let is_busy: i64 = db.query_row(sql, [], |row| row.get(0))?;
    match is_busy {
        0 => Ok(()),
        _ => Err(HistoryError::Busy),
    }
}

/// Forgets undo files that are too old, and those that no call points to.
pub(crate) fn expire_undos(
    db: &Connection,
    path: &Path,
    settings: &HistoryConfig,
) -> Result<(), HistoryError> {
    let age = match settings.undo {
        KeepUndo::For(age) => age,
        KeepUndo::No => Duration::ZERO,
    };
    let oldest = settings
        .clock
        .now()
        .as_micros()
        .saturating_sub(age.as_micros() as u64);
    let oldest = micros(Timestamp::from_micros(oldest));
    let sql = "DELETE FROM undos WHERE at < ?1 RETURNING file";
    let expired = patiently(settings.patience, || files(db, sql, [oldest]))?;
    let kept = files(db, "SELECT file FROM undos", [])?;
    let folder = beside(path, ".undo");
    for file in expired {
        let _may_be_gone = fs::remove_file(folder.join(file));
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_kept = entry
            .file_name()
            .to_str()
            .is_some_and(|name| kept.contains(name));
        if !is_kept && !is_fresh(&entry) {
            let _cleared_by_another = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn files(db: &Connection, sql: &str, values: impl Params) -> Result<HashSet<String>, HistoryError> {
    let mut find = db.prepare(sql)?;
    let rows = find.query_map(values, |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Another process may be about to commit the call it belongs to.
fn is_fresh(entry: &fs::DirEntry) -> bool {
    const MOMENT: Duration = Duration::from_secs(60);
    let modified = entry.metadata().and_then(|metadata| metadata.modified());
    let age = modified.map(|modified| SystemTime::now().duration_since(modified));
    age.is_ok_and(|age| age.unwrap_or_default() < MOMENT)
}
