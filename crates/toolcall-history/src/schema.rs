//! The tables, and the migrations that bring a file to the current version.
//! It reads and writes no rows.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::HistoryError;

/// `tcal` as the application id, so that the database of another program is not taken for a history.
const APPLICATION: i64 = 0x7463_616c;

/// One migration per version; the first creates the tables.
const MIGRATIONS: &[&str] = &[FIRST];

const FIRST: &str = "
-- Who writes: one row for every time that a history was opened for writing.
CREATE TABLE runs(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    began INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL DEFAULT '',
    client TEXT NOT NULL DEFAULT '',
    cwd TEXT NOT NULL DEFAULT '',
    began INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    -- How many records there are, and the hash of the last.
    length INTEGER NOT NULL,
    head BLOB NOT NULL
) STRICT;

-- What happened, in order, each chained to the one before it by its hash. Never changed.
CREATE TABLE records(
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    call INTEGER,
    at INTEGER NOT NULL,
    sort TEXT NOT NULL,
    body TEXT NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE(session, seq)
) STRICT;

-- Calls as their records fold, for lists and counts.
CREATE TABLE calls(
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    run INTEGER,
    parent TEXT,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    effect TEXT,
    judge TEXT,
    rule TEXT,
    announced INTEGER NOT NULL,
    started INTEGER,
    ended INTEGER,
    queued INTEGER NOT NULL,
    waited INTEGER NOT NULL,
    ran INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    UNIQUE(session, name)
) STRICT;
CREATE INDEX calls_by_time ON calls(announced);
CREATE INDEX calls_by_tool ON calls(tool);
CREATE INDEX calls_open ON calls(run) WHERE ended IS NULL;

CREATE TABLE questions(
    call INTEGER NOT NULL REFERENCES calls(id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    because TEXT NOT NULL,
    asked INTEGER NOT NULL,
    answered INTEGER,
    effect TEXT,
    judge TEXT,
    rule TEXT,
    PRIMARY KEY(call, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE touches(
    call INTEGER NOT NULL REFERENCES calls(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    how TEXT NOT NULL,
    PRIMARY KEY(path, call, how)
) STRICT, WITHOUT ROWID;
CREATE INDEX touches_by_call ON touches(call);

-- Words of calls that ended, by the call's id.
CREATE VIRTUAL TABLE texts USING fts5(title, input, output, content='', contentless_delete=1, detail=full);

-- Long texts, once each, and which sessions need them.
CREATE TABLE blobs(
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE blob_uses(
    session INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    blob INTEGER NOT NULL REFERENCES blobs(id),
    PRIMARY KEY(session, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_by_blob ON blob_uses(blob);

-- What can be undone: the files are beside the database.
CREATE TABLE undos(
    call INTEGER PRIMARY KEY REFERENCES calls(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    file TEXT NOT NULL
) STRICT;

-- What went wrong with the history itself.
CREATE TABLE incidents(
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    what TEXT NOT NULL
) STRICT;
";

/// Creates the tables, or migrates them to the current version.
pub(crate) fn prepare(db: &mut Connection, path: &str) -> Result<(), HistoryError> {
    migrate(db, path, MIGRATIONS)
}

fn migrate(db: &mut Connection, path: &str, migrations: &[&str]) -> Result<(), HistoryError> {
    // A reader of a current file needs no write lock.
    if version(db)? == (APPLICATION, migrations.len() as i64) {
        return Ok(());
    }
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (application, found) = version(&transaction)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && (tables > 0 || application != 0) {
        return Err(HistoryError::Foreign(path.to_owned()));
    }
    let known = migrations.len() as i64;
    if !(0..=known).contains(&found) {
        return Err(HistoryError::Newer { found, known });
    }
    if found == known {
        return Ok(());
    }
    for migration in &migrations[found as usize..] {
        transaction.execute_batch(migration)?;
    }
    let settle = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {known};");
    transaction.execute_batch(&settle)?;
    Ok(transaction.commit()?)
}

/// Returns the application id and the schema version of a database.
fn version(db: &Connection) -> Result<(i64, i64), HistoryError> {
    let number = |pragma: &str| db.query_row(pragma, [], |row| row.get(0));
    Ok((
        number("PRAGMA application_id")?,
        number("PRAGMA user_version")?,
    ))
}

/// Returns the statements that create the tables; benchmarks use them to compare with bare SQLite.
pub fn tables() -> &'static str {
    FIRST
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[&str] = &["CREATE TABLE a(x); INSERT INTO a VALUES(1);"];
    const NEW: &[&str] = &[
        OLD[0],
        "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1;",
    ];

    fn sum(db: &Connection) -> i64 {
        let sql = "SELECT sum(x) + sum(y) FROM a";
        db.query_row(sql, [], |row| row.get(0))
            .expect("both columns")
    }

    #[test]
    fn an_earlier_version_is_brought_forward_with_what_it_holds() {
        let mut db = Connection::open_in_memory().expect("a database");
        assert_eq!(migrate(&mut db, "a", OLD), Ok(()));
        assert_eq!(migrate(&mut db, "a", NEW), Ok(()));
        assert_eq!(sum(&db), 3);
        assert_eq!(migrate(&mut db, "a", NEW), Ok(()), "once is enough");
        let newer = HistoryError::Newer { found: 2, known: 1 };
        assert_eq!(migrate(&mut db, "a", OLD), Err(newer));
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut db = Connection::open_in_memory().expect("a database");
        assert_eq!(migrate(&mut db, "a", OLD), Ok(()));
        let broken = [
            OLD[0],
            "ALTER TABLE a ADD COLUMN y; UPDATE nothing SET y = 1;",
        ];
        assert!(migrate(&mut db, "a", &broken).is_err());
        assert_eq!(migrate(&mut db, "a", NEW), Ok(()));
        assert_eq!(sum(&db), 3);
    }
}
