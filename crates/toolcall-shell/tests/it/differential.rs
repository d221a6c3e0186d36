//! Runs understood texts with real shells and with our executor in the same directory: any difference is a bug.
//! The only programs on `PATH` are stubs that record how they were called.
#![cfg(unix)]

mod jail;
mod script;

use std::cell::Cell;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use jail::{Jail, Trace};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use toolcall::{Access, Join, Part, Reading, Redirect, Stream, Target, Touch};
use toolcall_shell::{read, touches};

/// The number of threads; each compares its share of the scripts.
const WORKERS: u32 = 4;

const SHELLS: [&str; 2] = ["/bin/sh", "/bin/bash"];

/// Sixty in a quick run; `cargo xtask test` asks for twice as many scripts as schedules.
fn scripts() -> u32 {
    let asked = std::env::var("TOOLCALL_SCHEDULES").ok();
    let asked = asked.and_then(|count| count.parse::<u32>().ok());
    asked.map_or(60, |count| count * 2)
}

fn shells() -> impl Iterator<Item = &'static str> {
    SHELLS.into_iter().filter(|shell| Path::new(shell).exists())
}

/// Returns the difference of the first shell that differs.
fn difference(jail: &Jail, text: &str, parts: &[Part]) -> Result<(), String> {
    let ours = jail.ours(parts).in_order_of(parts);
    for shell in shells() {
        let theirs = jail.shell(shell, text).in_order_of(parts);
        if ours != theirs {
            return Err(format!("{text:?}\n{shell}: {theirs:#?}\nours: {ours:#?}"));
        }
    }
    only_stated_files(&ours, parts)
}

/// Checks that every created file was stated as a touch.
fn only_stated_files(trace: &Trace, parts: &[Part]) -> Result<(), String> {
    let touches = touches(&Reading::Understood(parts.to_vec())).into_iter();
    let stated: Vec<_> = touches
        .filter_map(|touch| written(&touch)?.canonicalize().ok())
        .collect();
    match trace.new_files().find(|path| !stated.contains(path)) {
        Some(path) => Err(format!("`{}` was not stated", path.display())),
        None => Ok(()),
    }
}

fn written(touch: &Touch) -> Option<&Path> {
    match touch {
        Touch::Writes(path) => Some(path),
        Touch::Reads(_) | Touch::Deletes(_) | Touch::Moves { .. } => None,
        Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => None,
    }
}

trait InOrder {
    /// Programs of one pipeline run at the same time, so their order is undefined.
    fn in_order_of(self, parts: &[Part]) -> Self;
}

impl InOrder for Trace {
    fn in_order_of(mut self, parts: &[Part]) -> Self {
        if parts.iter().any(|part| part.join == Join::Pipe) {
            self.calls.sort();
            self.lines.sort();
        }
        self
    }
}

#[test]
fn understood_texts_run_as_shells_run_them() {
    let share = scripts().div_ceil(WORKERS);
    let understood: u32 = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| scope.spawn(move || compare(share)))
            .collect();
        let counts = workers.into_iter().map(|worker| worker.join());
        counts
            .map(|count| count.unwrap_or_else(|failure| resume_unwind(failure)))
            .sum()
    });
    let scripts = share * WORKERS;
    println!("{understood} of {scripts} scripts are understood");
    assert!(understood * 10 >= scripts * 3, "too few are understood");
}

/// Compares some scripts in a new jail, and returns how many of them were understood.
fn compare(scripts: u32) -> u32 {
    let jail = Jail::new();
    let understood = Cell::new(0);
    let config = Config {
        cases: scripts,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&script::any_script(), |text| {
        if let Reading::Understood(parts) = read(&text, &jail.cwd()) {
            understood.set(understood.get() + 1);
            difference(&jail, &text, &parts).map_err(TestCaseError::fail)?;
        }
        Ok(())
    });
    match result {
        Ok(()) => understood.get(),
        Err(failure) => panic!("{failure}"),
    }
}

/// For every kind of ambiguity a text, and how a parser without that check would read it.
const REFUSED: &str = include_str!("differential/refused.jsonl");

/// Each of these texts is unclear; read literally instead, it would run differently in a shell. A unit test
/// checks that every kind of ambiguity is listed here.
#[test]
fn the_oracle_sees_what_every_refusal_is_good_for() {
    let jail = Jail::new();
    let cwd = jail.cwd();
    for line in REFUSED.lines() {
        let row: Value = serde_json::from_str(line).expect("a line of JSON");
        let (Some(text), Some(letter)) = (row["text"].as_str(), row["letter"].as_array()) else {
            assert!(row["unseen"].is_string(), "{row}");
            continue;
        };
        assert!(matches!(read(text, &cwd), Reading::Unclear(_)), "{text}");
        let parts: Vec<Part> = letter.iter().map(|letter| part(letter, &cwd)).collect();
        let difference = difference(&jail, text, &parts);
        assert!(difference.is_err(), "{text} runs as it is written");
    }
}

fn part(letter: &Value, cwd: &Path) -> Part {
    let words = letter["words"].as_array().into_iter().flatten();
    let argv = words.map(|word| word.as_str().expect("a word").to_owned());
    let directory = letter["folder"].as_str().unwrap_or_default();
    let mut part = Part::new(argv.collect(), cwd.join(directory));
    if letter["piped"] == true {
        part.join = Join::Pipe;
    }
    let opened = |stream, key: &str, access| {
        let path = part.cwd.join(letter[key].as_str()?);
        let target = Target::File { path, access };
        Some(Redirect { stream, target })
    };
    let input = opened(Stream::Input, "reads", Access::Read);
    let output = opened(Stream::Output, "writes", Access::Replace);
    part.redirects = input.into_iter().chain(output).collect();
    part
}
