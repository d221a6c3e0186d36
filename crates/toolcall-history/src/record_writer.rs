//! Writes records into an open transaction: chained, packed, folded into the rows of their calls.
//! It begins and commits nothing; when a transaction fails, what it remembers is forgotten.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Transaction, params};
use toolcall::{CallId, Effect, Event, SessionId, Timestamp};

use crate::call_summary::Life;
use crate::chain::{self, Link};
use crate::error::HistoryError;
use crate::redact::Redactor;
use crate::rows::{self, Row};
use crate::settings::HistoryConfig;
use crate::stored::{self, Hash, Packer, SessionEvent, event_to_json, session_to_json};
use crate::undo;

/// More open calls than this are not remembered between transactions.
const MOST_REMEMBERED: usize = 4096;

/// Something to be written.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) session: SessionId,
    pub(crate) at: Timestamp,
    pub(crate) what: What,
}

/// What happened: to a call, or to its session.
#[derive(Debug)]
pub(crate) enum What {
    Call(CallId, Event),
    Session(SessionEvent),
}

/// Writes entries.
pub(crate) struct RecordWriter {
    redactor: &'static Redactor,
    settings: HistoryConfig,
    run: i64,
    undo_folder: PathBuf,
    known: HashMap<SessionId, Known>,
}

/// What is remembered of a session: it holds as long as nobody else has written to it.
#[derive(Default)]
struct Known {
    length: i64,
    calls: HashMap<CallId, Open>,
}

/// A call that has not ended, and its row.
struct Open {
    row: i64,
    life: Life,
    is_stored: bool,
    has_touches: bool,
}

/// What one transaction has done so far.
struct Batch<'t> {
    db: &'t Transaction<'t>,
    chains: HashMap<SessionId, Chain>,
    /// By their rows: an index of words takes them in order, or starts anew each time.
    dirty: BTreeMap<i64, (SessionId, CallId)>,
    next_call: i64,
}

struct Chain {
    row: i64,
    length: i64,
    head: Hash,
    latest: Timestamp,
}

impl RecordWriter {
    pub(crate) fn new(settings: HistoryConfig, run: i64, undo_folder: PathBuf) -> Self {
        Self {
            redactor: Redactor::get(),
            settings,
            run,
            undo_folder,
            known: HashMap::new(),
        }
    }

    /// Forgets what it remembers: a transaction failed.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    /// Writes entries into a transaction. Whoever then fails to commit it says so by [`RecordWriter::forget`].
    pub(crate) fn write<'e>(
        &mut self,
        db: &Transaction<'_>,
        entries: impl Iterator<Item = &'e Entry>,
    ) -> Result<(), HistoryError> {
        let mut batch = Batch::begin(db)?;
        for entry in entries {
            self.enter(&mut batch, entry)?;
        }
        self.settle(batch)
    }

    fn enter(&mut self, batch: &mut Batch<'_>, entry: &Entry) -> Result<(), HistoryError> {
        self.follow(batch, entry)?;
        let mut packer = Packer::new(
            self.redactor,
            self.settings.keep,
            self.settings.longest_text,
        );
        let (sort, body) = match &entry.what {
            What::Call(_, event) => (event.name(), event_to_json(event, &mut packer)),
            What::Session(event) => (event.name(), session_to_json(event, &mut packer)),
        };
        let facts = facts_of(&entry.what, &packer);
        let blobs = packer.blobs;
        let row = match &entry.what {
            What::Call(call, event) => Some(self.fold(batch, entry, call, event)?),
            What::Session(_) => None,
        };
        batch.append(entry, sort, &body, row)?;
        if let Some(facts) = facts {
            batch.tell_facts(&entry.session, &facts)?;
        }
        for (hash, bytes) in blobs {
            batch.keep_blob(&entry.session, &hash, &bytes)?;
        }
        Ok(())
    }

    /// Makes sure that what is remembered of a session still holds.
    fn follow(&mut self, batch: &mut Batch<'_>, entry: &Entry) -> Result<(), HistoryError> {
        if batch.chains.contains_key(&entry.session) {
            return Ok(());
        }
        let chain = batch.chain(&entry.session, entry.at)?;
        let known = self.known.entry(entry.session.clone()).or_default();
        if known.length != chain.length {
            known.calls.clear();
        }
        batch.chains.insert(entry.session.clone(), chain);
        Ok(())
    }

    fn fold(
        &mut self,
        batch: &mut Batch<'_>,
        entry: &Entry,
        id: &CallId,
        event: &Event,
    ) -> Result<i64, HistoryError> {
        let Entry { session, at, .. } = entry;
        let known = self.known.entry(session.clone()).or_default();
        let seq = batch.next_seq(session);
        if !known.calls.contains_key(id)
            && let Some(open) = batch.stored_call(session, id)?
        {
            known.calls.insert(id.clone(), open);
        }
        let open = match known.calls.get_mut(id) {
            Some(open) => {
                open.life.apply(seq, *at, event);
                open
            }
            None => {
                let life = Life::begin(session, id, seq, *at, event);
                let row = batch.new_call();
                known.calls.entry(id.clone()).or_insert(Open {
                    row,
                    life,
                    is_stored: false,
                    has_touches: false,
                })
            }
        };
        let row = open.row;
        let whose = || (session.clone(), id.clone());
        batch.dirty.entry(row).or_insert_with(whose);
        if is_yes(event) && open.life.edits().next().is_some() {
            let file = undo::keep(&self.undo_folder, &self.settings, *at, &open.life)?;
            batch.undos(session, row, *at, file, open, self.run)?;
        }
        Ok(row)
    }

    fn settle(&mut self, mut batch: Batch<'_>) -> Result<(), HistoryError> {
        for (session, id) in std::mem::take(&mut batch.dirty).into_values() {
            let chain = &batch.chains[&session];
            let Some(known) = self.known.get_mut(&session) else {
                continue;
            };
            let Some(open) = known.calls.get_mut(&id) else {
                continue;
            };
            batch.store_call(chain.row, open, self.run, self.redactor, &self.settings)?;
            if open.life.ended.is_some() {
                known.calls.remove(&id);
            }
        }
        for (session, chain) in &batch.chains {
            batch.store_chain(chain)?;
            self.known.entry(session.clone()).or_default().length = chain.length;
        }
        let remembered: usize = self.known.values().map(|known| known.calls.len() + 1).sum();
        if remembered > MOST_REMEMBERED {
            self.known.clear();
        }
        Ok(())
    }
}

/// What the list of sessions shows: agent, client and folder.
fn facts_of(what: &What, packer: &Packer<'_>) -> Option<[Arc<str>; 3]> {
    if let What::Session(SessionEvent::Opened(facts)) = what {
        let cwd = packer.line(&facts.cwd.to_string_lossy());
        return Some([
            packer.shared(&facts.agent),
            packer.shared(&facts.client),
            cwd,
        ]);
    }
    None
}

/// Whether a call may act from now on: before that, what it would change must be kept.
fn is_yes(event: &Event) -> bool {
    if let Event::Decided(decision) = event {
        return decision.effect == Effect::Allow;
    }
    false
}

impl<'t> Batch<'t> {
    fn begin(db: &'t Transaction<'t>) -> Result<Self, HistoryError> {
        let mut last = db.prepare_cached("SELECT coalesce(max(id), 0) FROM calls")?;
        let last: i64 = last.query_row([], |row| row.get(0))?;
        Ok(Self {
            db,
            chains: HashMap::new(),
            dirty: BTreeMap::new(),
            next_call: last + 1,
        })
    }

    fn new_call(&mut self) -> i64 {
        self.next_call += 1;
        self.next_call - 1
    }

    fn next_seq(&self, session: &SessionId) -> i64 {
        self.chains.get(session).map_or(1, |chain| chain.length + 1)
    }

    /// A session's chain as it is stored; begun, if it is not.
    fn chain(&self, session: &SessionId, at: Timestamp) -> Result<Chain, HistoryError> {
        let mut find = self
            .db
            .prepare_cached("SELECT id, length, head, latest FROM sessions WHERE name = ?1")?;
        let found = find.query_row([session.as_str()], |row| {
            Ok(Chain {
                row: row.get(0)?,
                length: row.get(1)?,
                head: row.get(2)?,
                latest: Timestamp::from_micros(row.get::<_, i64>(3)? as u64),
            })
        });
        if let Some(chain) = found.optional()? {
            return Ok(chain);
        }
        let head = chain::root(session.as_str());
        let mut begin = self.db.prepare_cached(
            "INSERT INTO sessions(name, began, latest, length, head) VALUES(?1, ?2, ?2, 0, ?3)",
        )?;
        let row = begin.insert(params![session.as_str(), micros(at), head])?;
        Ok(Chain {
            row,
            length: 0,
            head,
            latest: at,
        })
    }

    fn append(
        &mut self,
        entry: &Entry,
        sort: &str,
        body: &str,
        call_row: Option<i64>,
    ) -> Result<(), HistoryError> {
        let Some(chain) = self.chains.get_mut(&entry.session) else {
            return Err(HistoryError::Missing(format!(
                "session `{}`",
                entry.session
            )));
        };
        let call = match &entry.what {
            What::Call(call, _) => call.as_str(),
            What::Session(_) => "",
        };
        let link = Link {
            seq: chain.length + 1,
            at: micros(entry.at),
            sort,
            call,
            body,
        };
        let hash = link.after(&chain.head);
        let mut insert = self.db.prepare_cached(
            "INSERT INTO records(session, seq, call, at, sort, body, hash)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        insert.execute(params![
            chain.row, link.seq, call_row, link.at, sort, body, hash
        ])?;
        chain.length += 1;
        chain.head = hash;
        chain.latest = chain.latest.max(entry.at);
        Ok(())
    }

    fn keep_blob(
        &self,
        session: &SessionId,
        hash: &Hash,
        bytes: &[u8],
    ) -> Result<(), HistoryError> {
        let mut find = self
            .db
            .prepare_cached("SELECT id FROM blobs WHERE hash = ?1")?;
        let found: Option<i64> = find.query_row([hash], |row| row.get(0)).optional()?;
        let blob = match found {
            Some(blob) => blob,
            None => {
                let sql = "INSERT INTO blobs(hash, body) VALUES(?1, ?2)";
                self.db.prepare_cached(sql)?.insert(params![hash, bytes])?
            }
        };
        let sql = "INSERT OR IGNORE INTO blob_uses(session, blob) VALUES(?1, ?2)";
        let session = self.chains[session].row;
        self.db.prepare_cached(sql)?.execute([session, blob])?;
        Ok(())
    }

    /// A call of this session that is stored, folded again from its records.
    fn stored_call(&self, session: &SessionId, id: &CallId) -> Result<Option<Open>, HistoryError> {
        let sql = "SELECT id, first, last FROM calls WHERE session = ?1 AND name = ?2";
        let chain = &self.chains[session];
        let mut find = self.db.prepare_cached(sql)?;
        let found = find
            .query_row(params![chain.row, id.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((row, first, last)) = found else {
            return Ok(None);
        };
        let records = rows::records_of(self.db, chain.row, row, first..=last)?;
        let mut life: Option<Life> = None;
        for Row { seq, at, body, .. } in records {
            let event = stored::event_from_json(&body, &rows::Stored(self.db))?;
            match &mut life {
                Some(life) => life.apply(seq, at, &event),
                None => life = Some(Life::begin(session, id, seq, at, &event)),
            }
        }
        Ok(life.map(|life| Open {
            row,
            life,
            is_stored: true,
            has_touches: false,
        }))
    }

    fn undos(
        &self,
        session: &SessionId,
        row: i64,
        at: Timestamp,
        file: Option<String>,
        open: &mut Open,
        run: i64,
    ) -> Result<(), HistoryError> {
        let Some(file) = file else {
            return Ok(());
        };
        if !open.is_stored {
            rows::reserve_call(self.db, self.chains[session].row, row, &open.life, run)?;
            open.is_stored = true;
        }
        let sql = "INSERT OR REPLACE INTO undos(call, at, file) VALUES(?1, ?2, ?3)";
        self.db
            .prepare_cached(sql)?
            .execute(params![row, micros(at), file])?;
        Ok(())
    }

    fn store_call(
        &self,
        session: i64,
        open: &mut Open,
        run: i64,
        redactor: &Redactor,
        settings: &HistoryConfig,
    ) -> Result<(), HistoryError> {
        let packer = Packer::new(redactor, settings.keep, settings.longest_text);
        let summary = rows::Summary::of(&open.life, &packer);
        if open.is_stored {
            summary.update(self.db, open.row)?
        } else {
            summary.insert(self.db, open.row, session, run)?
        }
        open.is_stored = true;
        rows::store_questions(self.db, open.row, &open.life, &packer)?;
        let is_known = open.life.call.prepared_as().is_some() || open.life.ended.is_some();
        if is_known && !open.has_touches {
            rows::store_touches(self.db, open.row, &open.life, &packer)?;
            open.has_touches = true;
        }
        if open.life.ended.is_some() && packer.keeps_contents() {
            rows::store_texts(self.db, open.row, &open.life, redactor)?;
        }
        Ok(())
    }

    fn tell_facts(&self, session: &SessionId, facts: &[Arc<str>; 3]) -> Result<(), HistoryError> {
        let sql = "UPDATE sessions SET agent = ?2, client = ?3, cwd = ?4 WHERE id = ?1";
        let [agent, client, cwd] = facts;
        let values = params![self.chains[session].row, &**agent, &**client, &**cwd];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn store_chain(&self, chain: &Chain) -> Result<(), HistoryError> {
        let sql = "UPDATE sessions SET length = ?2, head = ?3, latest = ?4 WHERE id = ?1";
        let values = params![chain.row, chain.length, chain.head, micros(chain.latest)];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }
}

/// A moment as SQLite keeps it. Nothing lives until its numbers end.
pub(crate) fn micros(at: Timestamp) -> i64 {
    i64::try_from(at.as_micros()).unwrap_or(i64::MAX)
}
