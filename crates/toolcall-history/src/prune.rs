//! Deletes whole sessions with their texts and undo files, and overwrites their bytes.
//! The rest stays verifiable, because every session has its own hash chain.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, Params, Transaction, TransactionBehavior};
use toolcall::{SessionId, Timestamp};

use crate::error::HistoryError;
use crate::file::{self, retry_while_busy, with_suffix};
use crate::record_writer::micros;
use crate::settings::{HistoryConfig, KeepUndo};

/// How much was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The number of sessions.
    pub sessions: usize,
    /// The number of their calls.
    pub calls: usize,
    /// The number of long texts that no other session uses.
    pub texts: usize,
}

/// Deletes every session whose last record is older than a timestamp, with its texts and undo files.
///
/// Their bytes are overwritten in the file and removed from the WAL. It opens the file itself, so it also
/// frees space in a history that has reached its limit.
///
/// A reader that holds a snapshot for longer than `patience` keeps the WAL from being truncated. That is
/// [`HistoryError::Busy`]; calling it again truncates the WAL.
pub fn prune(
    path: &Path,
    older_than: Timestamp,
    settings: &HistoryConfig,
) -> Result<Pruned, HistoryError> {
    forget_sessions(
        path,
        &SessionSelector::LastActiveBefore(older_than),
        settings,
    )
}

/// Deletes one session, as [`prune`] does.
pub fn forget(
    path: &Path,
    session: &SessionId,
    settings: &HistoryConfig,
) -> Result<Pruned, HistoryError> {
    forget_sessions(path, &SessionSelector::ById(session), settings)
}

/// The sessions to delete.
enum SessionSelector<'a> {
    LastActiveBefore(Timestamp),
    ById(&'a SessionId),
}

fn forget_sessions(
    path: &Path,
    selector: &SessionSelector<'_>,
    settings: &HistoryConfig,
) -> Result<Pruned, HistoryError> {
    let mut db = file::open(path, settings.durability)?.db;
    expire_undos(&db, path, settings)?;
    let (pruned, undos) = retry_while_busy(settings.patience, || delete_rows(&mut db, selector))?;
    for undo in undos {
        let _may_be_gone = fs::remove_file(with_suffix(path, ".undo").join(undo));
    }
    retry_while_busy(settings.patience, || truncate_wal(&db))?;
    Ok(pruned)
}

fn delete_rows(
    db: &mut Connection,
    selector: &SessionSelector<'_>,
) -> Result<(Pruned, Vec<String>), HistoryError> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut pruned = Pruned::default();
    let mut undos = Vec::new();
    for session in select_sessions(&transaction, selector)? {
        undos.extend(undo_files(&transaction, session)?);
        let texts = ids(
            &transaction,
            "SELECT blob FROM blob_uses WHERE session = ?1",
            session,
        )?;
        let calls = "DELETE FROM texts WHERE rowid IN (SELECT id FROM calls WHERE session = ?1)";
        transaction.execute(calls, [session])?;
        let sql = "DELETE FROM calls WHERE session = ?1";
        pruned.calls += transaction.execute(sql, [session])?;
        transaction.execute("DELETE FROM sessions WHERE id = ?1", [session])?;
        for text in texts {
            let sql = "DELETE FROM blobs WHERE id = ?1
                       AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = ?1)";
            pruned.texts += transaction.prepare_cached(sql)?.execute([text])?;
        }
        pruned.sessions += 1;
    }
    if pruned.sessions > 0 {
        // Words of deleted rows stay in the search index until it is merged.
        transaction.execute("INSERT INTO texts(texts) VALUES('optimize')", [])?;
    }
    transaction.commit()?;
    Ok((pruned, undos))
}

fn select_sessions(
    db: &Transaction<'_>,
    selector: &SessionSelector<'_>,
) -> Result<Vec<i64>, HistoryError> {
    match selector {
        SessionSelector::LastActiveBefore(timestamp) => ids(
            db,
            "SELECT id FROM sessions WHERE latest < ?1",
            micros(*timestamp),
        ),
        SessionSelector::ById(session) => {
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

/// Truncates the WAL: it holds old pages until then.
fn truncate_wal(db: &Connection) -> Result<(), HistoryError> {
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let is_busy: i64 = db.query_row(sql, [], |row| row.get(0))?;
    match is_busy {
        0 => Ok(()),
        _ => Err(HistoryError::Busy),
    }
}

/// Deletes undo files that are too old or that no call references.
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
    let expired = retry_while_busy(settings.patience, || files(db, sql, [oldest]))?;
    let referenced = files(db, "SELECT file FROM undos", [])?;
    let dir = with_suffix(path, ".undo");
    for file in expired {
        let _may_be_gone = fs::remove_file(dir.join(file));
    }
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_referenced = entry
            .file_name()
            .to_str()
            .is_some_and(|name| referenced.contains(name));
        if !is_referenced && !is_fresh(&entry) {
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

/// Returns whether a file is so new that another process may be about to commit its call.
fn is_fresh(entry: &fs::DirEntry) -> bool {
    const FRESH: Duration = Duration::from_secs(60);
    let modified = entry.metadata().and_then(|metadata| metadata.modified());
    let age = modified.map(|modified| SystemTime::now().duration_since(modified));
    age.is_ok_and(|age| age.unwrap_or_default() < FRESH)
}
