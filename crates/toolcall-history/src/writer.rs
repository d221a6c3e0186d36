//! The writer thread: takes queued records, commits them in batches and completes their receipts.
//! No failure or panic here reaches a call.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;
use toolcall::{
    CallId, Ending, Event, Finish, Output, SessionId, StoreError, Timestamp, ToolResult,
};

use crate::error::HistoryError;
use crate::file::{self, DamagedFile, retry_while_busy, with_suffix};
use crate::prune;
use crate::queue::Queue;
use crate::record_writer::{Entry, EntryEvent, RecordWriter, micros};
use crate::rows::timestamp;
use crate::run::RunLock;
use crate::settings::{HistoryConfig, OnFailure};

/// The largest number of jobs in one transaction.
const MAX_BATCH: usize = 4096;

/// A job for the writer thread, with the channel that reports its completion.
#[derive(Debug)]
pub(crate) enum Job {
    Write(Entry, oneshot::Sender<Result<(), StoreError>>),
    /// Completes when every job before it is done.
    Flush(SyncSender<()>),
}

/// Whether records are being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Why records cannot be written at present.
    pub trouble: Option<HistoryError>,
    /// How many records were not written since the history was opened.
    pub unrecorded: u64,
}

/// The health, shared between the writer thread and the [`History`](crate::History).
#[derive(Debug, Default)]
pub(crate) struct SharedHealth(Mutex<Health>);

impl SharedHealth {
    pub(crate) fn get(&self) -> Health {
        self.0.lock().clone()
    }

    /// Counts records that were not written, and reports the error unless it is the same as before.
    pub(crate) fn failed(&self, records: u64, error: &HistoryError, settings: &HistoryConfig) {
        let is_new = {
            let mut health = self.0.lock();
            health.unrecorded += records;
            let before = health.trouble.replace(error.clone());
            before.as_ref() != Some(error)
        };
        if is_new {
            notify(settings, Some(error));
        }
    }

    fn recovered(&self, settings: &HistoryConfig) {
        if self.0.lock().trouble.take().is_some() {
            notify(settings, None);
        }
    }
}

fn notify(settings: &HistoryConfig, error: Option<&HistoryError>) {
    if let Some(on_change) = &settings.tell {
        let _callback_panicked = catch_unwind(AssertUnwindSafe(|| on_change(error)));
    }
}

/// The state of the writer thread: one connection to one file.
pub(crate) struct Writer {
    db: Connection,
    record_writer: RecordWriter,
    path: PathBuf,
    settings: HistoryConfig,
    health: Arc<SharedHealth>,
    /// How many records were not written since the last success, and the latest error.
    unrecorded: Option<(u64, HistoryError)>,
    _run: RunLock,
}

impl Writer {
    /// Opens the file and ends calls orphaned by dead processes.
    pub(crate) fn open(
        path: &Path,
        settings: &HistoryConfig,
        health: Arc<SharedHealth>,
    ) -> Result<(Self, Option<DamagedFile>), HistoryError> {
        let opened = file::open(path, settings.durability)?;
        let mut db = opened.db;
        limit_file_size(&db, settings.max_file_bytes)?;
        let run = RunLock::acquire(path)?;
        let now = micros(settings.clock.now());
        let patience = settings.patience;
        let row = retry_while_busy(patience, || {
            let sql = "INSERT INTO runs(name, began) VALUES(?1, ?2) RETURNING id";
            Ok(db.query_row(sql, params![run.name, now], |row| row.get(0))?)
        })?;
        let mut record_writer =
            RecordWriter::new(settings.clone(), row, with_suffix(path, ".undo"));
        retry_while_busy(patience, || {
            record_writer.clear_cache();
            end_orphaned_calls(&mut db, &mut record_writer, path, row)
        })?;
        prune::expire_undos(&db, path, settings)?;
        if let Some(DamagedFile { place, damage }) = &opened.set_aside {
            let message = format!(
                "a damaged history was set aside as `{}`: {damage}",
                place.display()
            );
            retry_while_busy(patience, || insert_incident(&db, now, &message))?;
        }
        let writer = Self {
            db,
            record_writer,
            path: path.to_owned(),
            settings: settings.clone(),
            health,
            unrecorded: None,
            _run: run,
        };
        Ok((writer, opened.set_aside))
    }

    /// Writes jobs until the queue is closed and empty.
    pub(crate) fn run(mut self, queue: &Queue<Job>) {
        loop {
            let mut jobs = queue.take_all();
            if jobs.is_empty() {
                return;
            }
            while !jobs.is_empty() {
                let rest = jobs.split_off(jobs.len().min(MAX_BATCH));
                self.commit(jobs);
                jobs = rest;
            }
        }
    }

    fn commit(&mut self, jobs: VecDeque<Job>) {
        let entries = || {
            jobs.iter().filter_map(|job| match job {
                Job::Write(entry, _) => Some(entry),
                Job::Flush(_) => None,
            })
        };
        let count = entries().count() as u64;
        let written = match count {
            0 => Ok(()),
            _ => self.write(entries),
        };
        match &written {
            Ok(()) if count > 0 => {
                self.unrecorded = None;
                self.health.recovered(&self.settings);
            }
            Ok(()) => {}
            Err(error) => self.failed(count, error),
        }
        let result = self.store_result(written);
        for job in jobs {
            match job {
                Job::Write(_, done) => drop(done.send(result.clone())),
                Job::Flush(done) => drop(done.send(())),
            }
        }
    }

    fn failed(&mut self, count: u64, error: &HistoryError) {
        self.record_writer.clear_cache();
        let before = self.unrecorded.take().map_or(0, |(before, _)| before);
        self.unrecorded = Some((before + count, error.clone()));
        if let HistoryError::Damaged(_) = error {
            file::mark_suspect(&self.path);
        }
        self.health.failed(count, error, &self.settings);
    }

    fn store_result(&self, written: Result<(), HistoryError>) -> Result<(), StoreError> {
        match (written, self.settings.on_failure) {
            (Ok(()), _) | (Err(_), OnFailure::RunUnrecorded) => Ok(()),
            (Err(error), OnFailure::Refuse) => Err(StoreError {
                reason: error.to_string().into(),
            }),
        }
    }

    fn write<'e, I: Iterator<Item = &'e Entry>>(
        &mut self,
        entries: impl Fn() -> I,
    ) -> Result<(), HistoryError> {
        let patience = self.settings.patience;
        let attempt = AssertUnwindSafe(|| {
            retry_while_busy(patience, || {
                // The failed transaction was rolled back, so the cache no longer matches the file.
                let result = self.write_transaction(entries());
                if result.is_err() {
                    self.record_writer.clear_cache();
                }
                result
            })
        });
        catch_unwind(attempt)
            .unwrap_or_else(|_| Err(HistoryError::Other("the writer panicked".into())))
    }

    fn write_transaction<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e Entry>,
    ) -> Result<(), HistoryError> {
        let immediate = TransactionBehavior::Immediate;
        let transaction = self.db.transaction_with_behavior(immediate)?;
        self.record_writer.write(&transaction, entries)?;
        if let Some((count, error)) = &self.unrecorded {
            let records = if *count == 1 {
                "record was"
            } else {
                "records were"
            };
            let message = format!("{count} {records} not kept: {error}");
            insert_incident(&transaction, micros(self.settings.clock.now()), &message)?;
        }
        Ok(transaction.commit()?)
    }
}

/// Limits the size of the file. SQLite reports a file at its limit as a full disk.
fn limit_file_size(db: &Connection, largest: Option<u64>) -> Result<(), HistoryError> {
    let Some(largest) = largest else {
        return Ok(());
    };
    let page: i64 = db.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let pages = (largest / page.unsigned_abs().max(1)).max(1);
    db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    Ok(())
}

fn insert_incident(db: &Connection, at: i64, what: &str) -> Result<(), HistoryError> {
    let sql = "INSERT INTO incidents(at, what) VALUES(?1, ?2)";
    db.execute(sql, params![at, what])?;
    Ok(())
}

/// Ends the open calls of dead processes as interrupted.
fn end_orphaned_calls(
    db: &mut Connection,
    record_writer: &mut RecordWriter,
    path: &Path,
    own: i64,
) -> Result<(), HistoryError> {
    let others: Vec<(i64, String)> = {
        let mut find = db.prepare("SELECT id, name FROM runs WHERE id <> ?1")?;
        let rows = find.query_map([own], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    for (row, name) in others
        .into_iter()
        .filter(|(_, name)| RunLock::is_dead(path, name))
    {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let entries = orphan_endings(&transaction, row)?;
        record_writer.write(&transaction, entries.iter())?;
        transaction.execute("DELETE FROM runs WHERE id = ?1", [row])?;
        transaction.commit()?;
        RunLock::remove(path, &name);
    }
    Ok(())
}

/// Returns an ending for every open call of a run, at the time of its last record.
fn orphan_endings(db: &Transaction<'_>, run: i64) -> Result<Vec<Entry>, HistoryError> {
    let sql = "SELECT sessions.name, calls.name,
                 (SELECT at FROM records WHERE records.session = calls.session AND seq = calls.last)
               FROM calls JOIN sessions ON sessions.id = calls.session
               WHERE calls.run = ?1 AND calls.ended IS NULL ORDER BY calls.id";
    let mut find = db.prepare(sql)?;
    let rows = find.query_map([run], |row| {
        let (session, call): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(interrupted(session, call, timestamp(row.get(2)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn interrupted(session: String, call: String, at: Timestamp) -> Entry {
    let finish = Finish {
        ending: Ending::interrupted("the process that ran it has ended"),
        result: ToolResult::default(),
        output: Arc::new(Output::default()),
    };
    Entry {
        session: SessionId::new(session),
        at,
        event: EntryEvent::Call(CallId::new(call), Event::Finished(Arc::new(finish))),
    }
}
