//! The reference: the same rows into the same tables, in transactions as large, with nothing else done.
//! The rows are those that a history made; how they were made is not part of it.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// As many events are committed together as the history commits at most.
const TOGETHER: usize = 4096;

/// What a history has written, table by table, in the order of its records.
pub(crate) struct Rows {
    records: Vec<Vec<Value>>,
    calls: Vec<Vec<Value>>,
    touches: Vec<Vec<Value>>,
    texts: Vec<Vec<Value>>,
}

impl Rows {
    pub(crate) fn read(path: &Path) -> Self {
        let db = Connection::open(path).expect("a history");
        let all = |sql: &str| -> Vec<Vec<Value>> {
            let mut find = db.prepare(sql).expect("a statement");
            let columns = find.column_count();
            let read = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
            let rows = find.query_map([], read).expect("rows");
            rows.collect::<Result<_, _>>().expect("rows")
        };
        Self {
            records: all("SELECT * FROM records ORDER BY id"),
            calls: all("SELECT * FROM calls ORDER BY id"),
            touches: all("SELECT call, path, how FROM touches ORDER BY call"),
            // What is indexed is not kept; these are the words that were.
            texts: all("SELECT id, tool || ' ' || title, 'src/module_' || (id - 1) % 997 || '.rs',
                        'fn main() { println!(\"{}\", ' || (id - 1) || '); }' FROM calls ORDER BY id"),
        }
    }
}

/// Inserts the rows into new tables.
pub(crate) fn insert(path: &Path, rows: &Rows) -> Duration {
    let mut db = Connection::open(path).expect("a database");
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000;",
    )
    .expect("its settings");
    db.execute_batch(toolcall_history::tables())
        .expect("its tables");
    db.execute_batch(
        "INSERT INTO sessions(id, name, began, latest, length, head) VALUES(1, 's', 0, 0, 0, x'')",
    )
    .expect("a session");
    let began = Instant::now();
    let batches = rows.records.len().div_ceil(TOGETHER);
    let share = |all: &[Vec<Value>], batch: usize| {
        let at = |batch: usize| all.len() * batch / batches;
        at(batch)..at(batch + 1)
    };
    for batch in 0..batches {
        let change = db.transaction().expect("a transaction");
        for (table, all) in [
            ("calls", &rows.calls),
            ("records", &rows.records),
            ("touches(call, path, how)", &rows.touches),
            ("texts(rowid, title, input, output)", &rows.texts),
        ] {
            insert_into(&change, table, &all[share(all, batch)]);
        }
        change
            .execute("UPDATE sessions SET length = length + 1", [])
            .expect("a session");
        change.commit().expect("it is kept");
    }
    began.elapsed()
}

fn insert_into(db: &Connection, table: &str, rows: &[Vec<Value>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let places = vec!["?"; columns].join(", ");
    let sql = format!("INSERT INTO {table} VALUES({places})");
    let mut insert = db.prepare_cached(&sql).expect("a statement");
    for row in rows {
        insert.execute(params_from_iter(row)).expect("a row");
    }
}
