//! Writes records into an open transaction: inserts the record, chains its hash, updates the row of its call.
//! It neither begins nor commits transactions; after a failed one its cache must be cleared.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Transaction, params};
use toolcall::{CallId, Effect, Event, SessionId, Timestamp};

use crate::call_summary::CallSummary;
use crate::chain::{self, ChainLink};
use crate::error::HistoryError;
use crate::redact::Redactor;
use crate::rows::{self, StoredRecord};
use crate::settings::HistoryConfig;
use crate::stored::{self, Encoder, Hash, SessionEvent, event_to_json, session_to_json};
use crate::undo;

/// If more open calls than this are cached after a transaction, the cache is cleared.
const MAX_CACHED: usize = 4096;

/// An event to be written as a record.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) session: SessionId,
    pub(crate) at: Timestamp,
    pub(crate) event: EntryEvent,
}

/// An event of a call or of its session.
#[derive(Debug)]
pub(crate) enum EntryEvent {
    Call(CallId, Event),
    Session(SessionEvent),
}

/// Writes entries as rows, and caches the open calls between transactions.
pub(crate) struct RecordWriter {
    redactor: &'static Redactor,
    settings: HistoryConfig,
    run: i64,
    undo_dir: PathBuf,
    sessions: HashMap<SessionId, SessionCache>,
}

/// The cached state of a session. It is valid as long as no other process has written to the session.
#[derive(Default)]
struct SessionCache {
    length: i64,
    calls: HashMap<CallId, OpenCall>,
}

/// A call that has not ended, and the id of its row.
struct OpenCall {
    row: i64,
    summary: CallSummary,
    is_stored: bool,
    has_touches: bool,
}

/// The state of one transaction.
struct Batch<'t> {
    db: &'t Transaction<'t>,
    chains: HashMap<SessionId, ChainHead>,
    /// The changed calls by row id: the search index is fastest when rows arrive in order.
    dirty: BTreeMap<i64, (SessionId, CallId)>,
    next_call: i64,
}

struct ChainHead {
    row: i64,
    length: i64,
    head: Hash,
    latest: Timestamp,
}

impl RecordWriter {
    pub(crate) fn new(settings: HistoryConfig, run: i64, undo_dir: PathBuf) -> Self {
        Self {
            redactor: Redactor::get(),
            settings,
            run,
            undo_dir,
            sessions: HashMap::new(),
        }
    }

    /// Clears the cache after a transaction that failed.
    pub(crate) fn clear_cache(&mut self) {
        self.sessions.clear();
    }

    /// Writes entries into a transaction. If the commit fails, call [`RecordWriter::clear_cache`].
    pub(crate) fn write<'e>(
        &mut self,
        db: &Transaction<'_>,
        entries: impl Iterator<Item = &'e Entry>,
    ) -> Result<(), HistoryError> {
        let mut batch = Batch::begin(db)?;
        for entry in entries {
            self.write_entry(&mut batch, entry)?;
        }
        self.write_rows(batch)
    }

    fn write_entry(&mut self, batch: &mut Batch<'_>, entry: &Entry) -> Result<(), HistoryError> {
        self.load_chain(batch, entry)?;
        let mut encoder = Encoder::new(
            self.redactor,
            self.settings.keep,
            self.settings.max_text_bytes,
        );
        let (name, body) = match &entry.event {
            EntryEvent::Call(_, event) => (event.name(), event_to_json(event, &mut encoder)),
            EntryEvent::Session(event) => (event.name(), session_to_json(event, &mut encoder)),
        };
        let facts = session_columns(&entry.event, &encoder);
        let blobs = encoder.blobs;
        let row = match &entry.event {
            EntryEvent::Call(call, event) => Some(self.fold_event(batch, entry, call, event)?),
            EntryEvent::Session(_) => None,
        };
        batch.append(entry, name, &body, row)?;
        if let Some(facts) = facts {
            batch.update_session_facts(&entry.session, &facts)?;
        }
        for (hash, bytes) in blobs {
            batch.insert_blob(&entry.session, &hash, &bytes)?;
        }
        Ok(())
    }

    /// Loads the chain of a session, and drops its cached calls if another process has written to it.
    fn load_chain(&mut self, batch: &mut Batch<'_>, entry: &Entry) -> Result<(), HistoryError> {
        if batch.chains.contains_key(&entry.session) {
            return Ok(());
        }
        let chain = batch.load_or_insert_chain(&entry.session, entry.at)?;
        let cache = self.sessions.entry(entry.session.clone()).or_default();
        if cache.length != chain.length {
            cache.calls.clear();
        }
        batch.chains.insert(entry.session.clone(), chain);
        Ok(())
    }

    fn fold_event(
        &mut self,
        batch: &mut Batch<'_>,
        entry: &Entry,
        id: &CallId,
        event: &Event,
    ) -> Result<i64, HistoryError> {
        let Entry { session, at, .. } = entry;
        let cache = self.sessions.entry(session.clone()).or_default();
        let seq = batch.next_seq(session);
        if !cache.calls.contains_key(id)
            && let Some(open) = batch.stored_call(session, id)?
        {
            cache.calls.insert(id.clone(), open);
        }
        let open = match cache.calls.get_mut(id) {
            Some(open) => {
                open.summary.apply(seq, *at, event);
                open
            }
            None => {
                let summary = CallSummary::begin(session, id, seq, *at, event);
                let row = batch.next_call_row();
                cache.calls.entry(id.clone()).or_insert(OpenCall {
                    row,
                    summary,
                    is_stored: false,
                    has_touches: false,
                })
            }
        };
        let row = open.row;
        let whose = || (session.clone(), id.clone());
        batch.dirty.entry(row).or_insert_with(whose);
        if allows(event) && open.summary.edits().next().is_some() {
            let file = undo::write_undo_file(&self.undo_dir, &self.settings, *at, &open.summary)?;
            batch.insert_undo(session, row, *at, file, open, self.run)?;
        }
        Ok(row)
    }

    fn write_rows(&mut self, mut batch: Batch<'_>) -> Result<(), HistoryError> {
        for (session, id) in std::mem::take(&mut batch.dirty).into_values() {
            let chain = &batch.chains[&session];
            let Some(cache) = self.sessions.get_mut(&session) else {
                continue;
            };
            let Some(open) = cache.calls.get_mut(&id) else {
                continue;
            };
            batch.store_call(chain.row, open, self.run, self.redactor, &self.settings)?;
            if open.summary.ended.is_some() {
                cache.calls.remove(&id);
            }
        }
        for (session, chain) in &batch.chains {
            batch.store_chain(chain)?;
            self.sessions.entry(session.clone()).or_default().length = chain.length;
        }
        let cached: usize = self
            .sessions
            .values()
            .map(|cache| cache.calls.len() + 1)
            .sum();
        if cached > MAX_CACHED {
            self.sessions.clear();
        }
        Ok(())
    }
}

/// Returns the columns that a session's opening sets: agent, client and working directory.
fn session_columns(event: &EntryEvent, encoder: &Encoder<'_>) -> Option<[Arc<str>; 3]> {
    if let EntryEvent::Session(SessionEvent::Opened(facts)) = event {
        let cwd = encoder.redacted_line(&facts.cwd.to_string_lossy());
        return Some([
            encoder.redacted(&facts.agent),
            encoder.redacted(&facts.client),
            cwd,
        ]);
    }
    None
}

/// Returns whether this event lets the call run: the undo file must be written before.
fn allows(event: &Event) -> bool {
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

    fn next_call_row(&mut self) -> i64 {
        self.next_call += 1;
        self.next_call - 1
    }

    fn next_seq(&self, session: &SessionId) -> i64 {
        self.chains.get(session).map_or(1, |chain| chain.length + 1)
    }

    /// Returns the chain of a session; inserts the session if it is new.
    fn load_or_insert_chain(
        &self,
        session: &SessionId,
        at: Timestamp,
    ) -> Result<ChainHead, HistoryError> {
        let mut find = self
            .db
            .prepare_cached("SELECT id, length, head, latest FROM sessions WHERE name = ?1")?;
        let found = find.query_row([session.as_str()], |row| {
            Ok(ChainHead {
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
        Ok(ChainHead {
            row,
            length: 0,
            head,
            latest: at,
        })
    }

    fn append(
        &mut self,
        entry: &Entry,
        name: &str,
        body: &str,
        call_row: Option<i64>,
    ) -> Result<(), HistoryError> {
        let Some(chain) = self.chains.get_mut(&entry.session) else {
            return Err(HistoryError::Missing(format!(
                "session `{}`",
                entry.session
            )));
        };
        let call = match &entry.event {
            EntryEvent::Call(call, _) => call.as_str(),
            EntryEvent::Session(_) => "",
        };
        let link = ChainLink {
            seq: chain.length + 1,
            at: micros(entry.at),
            event_name: name,
            call,
            body,
        };
        let hash = link.after(&chain.head);
        let mut insert = self.db.prepare_cached(
            "INSERT INTO records(session, seq, call, at, sort, body, hash)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        insert.execute(params![
            chain.row, link.seq, call_row, link.at, name, body, hash
        ])?;
        chain.length += 1;
        chain.head = hash;
        chain.latest = chain.latest.max(entry.at);
        Ok(())
    }

    fn insert_blob(
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

    /// Returns a stored call of this session, folded again from its records.
    fn stored_call(
        &self,
        session: &SessionId,
        id: &CallId,
    ) -> Result<Option<OpenCall>, HistoryError> {
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
        let records = rows::read_records(self.db, chain.row, row, first..=last)?;
        let mut summary: Option<CallSummary> = None;
        for StoredRecord { seq, at, body, .. } in records {
            let event = stored::event_from_json(&body, &rows::DbBlobs(self.db))?;
            match &mut summary {
                Some(summary) => summary.apply(seq, at, &event),
                None => summary = Some(CallSummary::begin(session, id, seq, at, &event)),
            }
        }
        Ok(summary.map(|summary| OpenCall {
            row,
            summary,
            is_stored: true,
            has_touches: false,
        }))
    }

    fn insert_undo(
        &self,
        session: &SessionId,
        row: i64,
        at: Timestamp,
        file: Option<String>,
        open: &mut OpenCall,
        run: i64,
    ) -> Result<(), HistoryError> {
        let Some(file) = file else {
            return Ok(());
        };
        if !open.is_stored {
            rows::reserve_call(self.db, self.chains[session].row, row, &open.summary, run)?;
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
        open: &mut OpenCall,
        run: i64,
        redactor: &Redactor,
        settings: &HistoryConfig,
    ) -> Result<(), HistoryError> {
        let encoder = Encoder::new(redactor, settings.keep, settings.max_text_bytes);
        let columns = rows::CallColumns::new(&open.summary, &encoder);
        if open.is_stored {
            columns.update(self.db, open.row)?;
        } else {
            columns.insert(self.db, open.row, session, run)?;
        }
        open.is_stored = true;
        rows::store_questions(self.db, open.row, &open.summary, &encoder)?;
        let is_known = open.summary.call.prepared_as().is_some() || open.summary.ended.is_some();
        if is_known && !open.has_touches {
            rows::store_touches(self.db, open.row, &open.summary, &encoder)?;
            open.has_touches = true;
        }
        if open.summary.ended.is_some() && encoder.keeps_content() {
            rows::store_texts(self.db, open.row, &open.summary, redactor)?;
        }
        Ok(())
    }

    fn update_session_facts(
        &self,
        session: &SessionId,
        facts: &[Arc<str>; 3],
    ) -> Result<(), HistoryError> {
        let sql = "UPDATE sessions SET agent = ?2, client = ?3, cwd = ?4 WHERE id = ?1";
        let [agent, client, cwd] = facts;
        let values = params![self.chains[session].row, &**agent, &**client, &**cwd];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn store_chain(&self, chain: &ChainHead) -> Result<(), HistoryError> {
        let sql = "UPDATE sessions SET length = ?2, head = ?3, latest = ?4 WHERE id = ?1";
        let values = params![chain.row, chain.length, chain.head, micros(chain.latest)];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }
}

/// Returns a timestamp as the microseconds that SQLite stores.
pub(crate) fn micros(at: Timestamp) -> i64 {
    i64::try_from(at.as_micros()).unwrap_or(i64::MAX)
}
