//! The one who writes: takes what waits, commits it together, and says that it is safe.
//! It lives on a thread of its own, and nothing that fails or panics in it reaches a call.

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
use crate::file::{self, DamagedFile, beside, patiently};
use crate::prune;
use crate::queue::Queue;
use crate::record_writer::{Entry, RecordWriter, What, micros};
use crate::rows::moment;
use crate::run::Run;
use crate::settings::{HistoryConfig, OnFailure};

/// At most this many entries are committed together.
const MOST_TOGETHER: usize = 4096;

/// Something to be written, and who waits for it.
#[derive(Debug)]
pub(crate) enum Job {
    Write(Entry, oneshot::Sender<Result<(), StoreError>>),
    /// Says when everything before it was dealt with.
    Flush(SyncSender<()>),
}

/// How a history fares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Why nothing can be kept at the moment.
    pub trouble: Option<HistoryError>,
    /// How many records were not kept, in all.
    pub unrecorded: u64,
}

/// Shared between the one who writes and those who ask.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<Health>);

impl Shared {
    pub(crate) fn health(&self) -> Health {
        self.0.lock().clone()
    }

    /// Notes that records were not kept, and tells whoever wants to know, once.
    pub(crate) fn failed(&self, records: u64, trouble: &HistoryError, settings: &HistoryConfig) {
        let is_new = {
            let mut health = self.0.lock();
            health.unrecorded += records;
            let before = health.trouble.replace(trouble.clone());
            before.as_ref() != Some(trouble)
        };
        if is_new {
            tell(settings, Some(trouble));
        }
    }

    fn recovered(&self, settings: &HistoryConfig) {
        if self.0.lock().trouble.take().is_some() {
            tell(settings, None);
        }
    }
}

fn tell(settings: &HistoryConfig, trouble: Option<&HistoryError>) {
    if let Some(tell) = &settings.tell {
        let _whoever_was_told_panicked = catch_unwind(AssertUnwindSafe(|| tell(trouble)));
    }
}

/// Writes into one file.
pub(crate) struct Writer {
    db: Connection,
    pen: RecordWriter,
    path: PathBuf,
    settings: HistoryConfig,
    shared: Arc<Shared>,
    /// Not kept since the last success, and why.
    lost: Option<(u64, HistoryError)>,
    _run: Run,
}

impl Writer {
    /// Opens the file, ends what a dead process left open, and is ready to write.
    pub(crate) fn open(
        path: &Path,
        settings: &HistoryConfig,
        shared: Arc<Shared>,
    ) -> Result<(Self, Option<DamagedFile>), HistoryError> {
        let opened = file::open(path, settings.durability)?;
        let mut db = opened.db;
        limit(&db, settings.largest_file)?;
        let run = Run::begin(path)?;
        let now = micros(settings.clock.now());
        let patience = settings.patience;
        let row = patiently(patience, || {
            let sql = "INSERT INTO runs(name, began) VALUES(?1, ?2) RETURNING id";
            Ok(db.query_row(sql, params![run.name, now], |row| row.get(0))?)
        })?;
        let mut pen = RecordWriter::new(settings.clone(), row, beside(path, ".undo"));
        patiently(patience, || {
            pen.forget();
            end_the_dead(&mut db, &mut pen, path, row)
        })?;
        prune::expire_undos(&db, path, settings)?;
        if let Some(DamagedFile { place, damage }) = &opened.set_aside {
            let said = format!(
                "a damaged history was set aside as `{}`: {damage}",
                place.display()
            );
            patiently(patience, || incident(&db, now, &said))?;
        }
        let writer = Self {
            db,
            pen,
            path: path.to_owned(),
            settings: settings.clone(),
            shared,
            lost: None,
            _run: run,
        };
        Ok((writer, opened.set_aside))
    }

    /// Writes until the queue is closed and empty.
    pub(crate) fn work(mut self, queue: &Queue<Job>) {
        loop {
            let mut jobs = queue.take();
            if jobs.is_empty() {
                return;
            }
            while !jobs.is_empty() {
                let rest = jobs.split_off(jobs.len().min(MOST_TOGETHER));
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
                self.lost = None;
                self.shared.recovered(&self.settings);
            }
            Ok(()) => {}
            Err(trouble) => self.failed(count, trouble),
        }
        let answer = self.answer(written);
        for job in jobs {
            match job {
                Job::Write(_, done) => drop(done.send(answer.clone())),
                Job::Flush(done) => drop(done.send(())),
            }
        }
    }

    fn failed(&mut self, count: u64, trouble: &HistoryError) {
        self.pen.forget();
        let before = self.lost.take().map_or(0, |(before, _)| before);
        self.lost = Some((before + count, trouble.clone()));
        if let HistoryError::Damaged(_) = trouble {
            file::suspect(&self.path);
        }
        self.shared.failed(count, trouble, &self.settings);
    }

    fn answer(&self, written: Result<(), HistoryError>) -> Result<(), StoreError> {
        match (written, self.settings.on_failure) {
            (Ok(()), _) | (Err(_), OnFailure::GoOn) => Ok(()),
            (Err(trouble), OnFailure::Refuse) => Err(StoreError {
                reason: trouble.to_string().into(),
            }),
        }
    }

    fn write<'e, I: Iterator<Item = &'e Entry>>(
        &mut self,
        entries: impl Fn() -> I,
    ) -> Result<(), HistoryError> {
        let patience = self.settings.patience;
        let safely = AssertUnwindSafe(|| {
            patiently(patience, || {
                // What an earlier try remembers was rolled back with it.
                let tried = self.try_once(entries());
                if tried.is_err() {
                    self.pen.forget();
                }
                tried
            })
        });
        catch_unwind(safely)
            .unwrap_or_else(|_| Err(HistoryError::Other("the writer panicked".into())))
    }

    fn try_once<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e Entry>,
    ) -> Result<(), HistoryError> {
        let change = TransactionBehavior::Immediate;
        let transaction = self.db.transaction_with_behavior(change)?;
        self.pen.write(&transaction, entries)?;
        if let Some((count, trouble)) = &self.lost {
            let said = format!("{count} records were not kept: {trouble}");
            incident(&transaction, micros(self.settings.clock.now()), &said)?;
        }
        Ok(transaction.commit()?)
    }
}

/// A file that reached its limit is as a disk that is full.
fn limit(db: &Connection, largest: Option<u64>) -> Result<(), HistoryError> {
    let Some(largest) = largest else {
        return Ok(());
    };
    let page: i64 = db.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let pages = (largest / page.unsigned_abs().max(1)).max(1);
    db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    Ok(())
}

fn incident(db: &Connection, at: i64, what: &str) -> Result<(), HistoryError> {
    let sql = "INSERT INTO incidents(at, what) VALUES(?1, ?2)";
    db.execute(sql, params![at, what])?;
    Ok(())
}

/// Ends the calls that processes left open which are gone.
fn end_the_dead(
    db: &mut Connection,
    pen: &mut RecordWriter,
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
        .filter(|(_, name)| Run::is_over(path, name))
    {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let entries = left_open(&transaction, row)?;
        pen.write(&transaction, entries.iter())?;
        transaction.execute("DELETE FROM runs WHERE id = ?1", [row])?;
        transaction.commit()?;
        Run::clear(path, &name);
    }
    Ok(())
}

/// An ending for every open call of a run, at the moment when it was last heard of.
fn left_open(db: &Transaction<'_>, run: i64) -> Result<Vec<Entry>, HistoryError> {
    let sql = "SELECT sessions.name, calls.name,
                 (SELECT at FROM records WHERE records.session = calls.session AND seq = calls.last)
               FROM calls JOIN sessions ON sessions.id = calls.session
               WHERE calls.run = ?1 AND calls.ended IS NULL ORDER BY calls.id";
    let mut find = db.prepare(sql)?;
    let rows = find.query_map([run], |row| {
        let (session, call): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(interrupted(session, call, moment(row.get(2)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn interrupted(session: String, call: String, at: Timestamp) -> Entry {
    let finish = Finish {
        ending: Ending::interrupted("the program that carried it is gone"),
        result: ToolResult::default(),
        output: Arc::new(Output::default()),
    };
    Entry {
        session: SessionId::new(session),
        at,
        what: What::Call(CallId::new(call), Event::Finished(Arc::new(finish))),
    }
}
