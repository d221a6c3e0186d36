//! What a history answers, and how long that takes as it grows from ten thousand calls to a million.
//! The reference is the same question at ten thousand calls, so that a ratio says how it grows.

use std::path::PathBuf;

use tempfile::TempDir;
use toolcall::{CallId, Kind, SessionId};
use toolcall_history::{Archive, CallFilter, StatsPeriod};

use super::{file, folder, write};
use crate::{Case, Options, Row};

const FEW: u32 = 10_000;
const SIZES: [u32; 2] = [100_000, 1_000_000];

/// A file of so many calls, and one of them in the middle.
struct Shelf {
    archive: Archive,
    session: SessionId,
    middle: CallId,
    _folder: TempDir,
}

impl Shelf {
    fn of(calls: u32) -> Self {
        let folder = folder();
        write(&file(&folder), calls);
        let archive = Archive::open(&file(&folder)).expect("an archive");
        let session = archive.sessions().expect("sessions")[0].id.clone();
        Self {
            archive,
            session,
            middle: CallId::new(format!("call-{}", calls / 2)),
            _folder: folder,
        }
    }
}

/// A question, and how many answers it has.
type Ask = fn(&Shelf) -> usize;

const QUESTIONS: [(&str, Ask); 6] = [
    ("the latest hundred", |shelf| {
        calls(shelf, CallFilter::default())
    }),
    ("one tool", |shelf| {
        let tool = Some("fetch".into());
        calls(
            shelf,
            CallFilter {
                tool,
                ..CallFilter::default()
            },
        )
    }),
    ("one file", |shelf| {
        let path = Some(PathBuf::from("/work/src/module_7.rs"));
        let kind = Some(Kind::Read);
        calls(
            shelf,
            CallFilter {
                path,
                kind,
                ..CallFilter::default()
            },
        )
    }),
    ("a word", |shelf| {
        let text = Some("module_7 println".into());
        calls(
            shelf,
            CallFilter {
                text,
                ..CallFilter::default()
            },
        )
    }),
    ("one call with its records", |shelf| {
        let told = shelf.archive.call(&shelf.session, &shelf.middle);
        told.expect("a call").records.len()
    }),
    ("all statistics", |shelf| {
        let stats = shelf.archive.stats(StatsPeriod::ALL);
        stats.expect("statistics").by_tool.len()
    }),
];

fn calls(shelf: &Shelf, filter: CallFilter) -> usize {
    shelf.archive.calls(&filter).expect("calls").len()
}

pub(crate) fn run(options: &Options) -> Vec<Row> {
    let few = Shelf::of(FEW);
    let mut rows = Vec::new();
    for size in SIZES {
        let many = Shelf::of(size);
        for (name, ask) in QUESTIONS {
            assert!(ask(&many) > 0, "`{name}` has answers");
            let case = Case::new(format!("{name}, of {size} calls, against {FEW}"), options);
            rows.push(case.compare(|| ask(&many), || ask(&few)));
        }
    }
    rows
}
