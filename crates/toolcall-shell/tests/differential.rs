//! Understood texts, run by real shells and by our executor in the same jail: whatever differs is a bug.
//! Only stub programs that write down how they were called are within reach.
#![cfg(unix)]

#[path = "differential/jail.rs"]
mod jail;
#[path = "differential/script.rs"]
mod script;

use std::cell::Cell;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use jail::{Jail, Trace};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use toolcall::{Join, Part, Reading, Touch};
use toolcall_shell::{read, touches};

/// Each compares its share of the scripts.
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

/// What the first shell that does otherwise does otherwise.
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

/// Every file that came to be was stated as a touch, by whatever way it was reached.
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
    /// Programs of one pipe run at once: what they did has no order then.
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

/// Compares some scripts in a jail of their own, and tells how many of them were understood.
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

/// Each of these is refused; taken by the letter instead, it would be found out.
#[test]
fn the_oracle_sees_what_every_refusal_is_good_for() {
    let jail = Jail::new();
    for (text, words) in script::TAKEN_BY_THE_LETTER {
        let cwd = jail.cwd();
        assert!(matches!(read(text, &cwd), Reading::Unclear(_)), "{text}");
        let argv = words.iter().map(|word| (*word).to_owned()).collect();
        let difference = difference(&jail, text, &[Part::new(argv, cwd)]);
        assert!(difference.is_err(), "{text} runs as it is written");
    }
}
