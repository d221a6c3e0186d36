//! A directory with stub programs, in which a shell or our executor runs a text.
//! It compares nothing; it records what happened.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::future::pending;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolcall::{Access, Exit, Part};
use toolcall_shell::{FileOpener, RunEnvironment, run};

/// The results of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// How stubs were called: directory, name, arguments.
    pub(crate) calls: Vec<String>,
    /// What stubs printed.
    pub(crate) lines: Vec<String>,
    exit: i32,
    files: BTreeMap<PathBuf, Vec<String>>,
}

impl Trace {
    /// The files that the run created.
    pub(crate) fn new_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.keys().filter(|path| !path.ends_with("in"))
    }
}

pub(crate) struct Jail {
    dir: TempDir,
    runtime: Runtime,
}

/// What stubs do after they record their call; `copy` repeats its input. `both` prints to its output
/// last: what a shell could not write to a closed pipe it may write to the next stream. Each line of
/// theirs begins with a mark, because shells print errors in pieces, even between those lines.
const STUBS: [(&str, &str); 6] = [
    ("show", r#"printf '\036out:%s\n' "$#" 2>/dev/null"#),
    (
        "both",
        r#"printf '\036err:%s\n' "$#" >&2; printf '\036out:%s\n' "$#" 2>/dev/null"#,
    ),
    (
        "copy",
        r#"while IFS= read -r line; do printf '\036copy:%s\n' "${line#?}"; done 2>/dev/null"#,
    ),
    ("no", "exit 3"),
    ("seven", "exit 7"),
    ("die", "kill -9 $$"),
];

/// A reader that ends early must not decide how far a writer gets.
const CALL: &str = r#"#!/bin/sh
trap '' PIPE
cd -P .
call="$PWD|${0##*/}"
for word in "$@"; do call="$call|$word"; done
printf '%s\035' "$call" >> "$LOG"
"#;

impl Jail {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().expect("a directory");
        let jail = Self {
            dir,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime"),
        };
        fs::create_dir(jail.path("bin")).expect("a directory");
        for (name, does) in STUBS {
            jail.add_stub(name, does);
        }
        jail
    }

    /// Writes a stub through another process: if this process had it open for writing, a child that another
    /// test just started could inherit it, and the stub could not be run for that moment.
    fn add_stub(&self, name: &str, does: &str) {
        let (draft, path) = (self.path("draft"), self.path("bin").join(name));
        fs::write(&draft, format!("{CALL}{does}\n")).expect("a draft");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("a draft");
        let copied = Command::new("cp").arg("-p").args([&draft, &path]).status();
        assert!(copied.expect("cp runs").success());
    }

    /// Returns the directory in which texts run.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.path("work")
    }

    /// Runs a text with a shell.
    pub(crate) fn shell(&self, shell: &str, text: &str) -> Trace {
        self.furnish();
        let output = self.path("output");
        let file = fs::File::create(&output).expect("a file");
        let status = Command::new(shell)
            .args(["-c", text])
            .current_dir(self.cwd())
            .env_clear()
            .envs(self.env())
            .stdin(Stdio::null())
            .stderr(file.try_clone().expect("a file"))
            .stdout(file)
            .status()
            .expect("the shell runs");
        let exit = status.code().or(status.signal().map(|signal| 128 + signal));
        self.trace(exit.unwrap_or_default(), &fs::read(output).expect("a file"))
    }

    /// Runs parts with our executor.
    pub(crate) fn ours(&self, parts: &[Part]) -> Trace {
        self.furnish();
        let mut output = Vec::new();
        let print = |bytes: &[u8]| output.extend_from_slice(bytes);
        let surroundings = RunEnvironment {
            env: &self.env(),
            files: &AnyFiles,
            grace: Duration::from_secs(5),
        };
        let ran = run(parts, &surroundings, print, pending());
        let exit = match self.runtime.block_on(ran).expect("it runs") {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
        };
        self.trace(exit, &output)
    }

    fn path(&self, name: &str) -> PathBuf {
        let root = self.dir.path().canonicalize().expect("it is there");
        root.join(name)
    }

    fn env(&self) -> BTreeMap<OsString, OsString> {
        let env = [
            ("PATH", self.path("bin")),
            ("HOME", self.path("work/sub")),
            ("LOG", self.path("log")),
        ];
        env.into_iter()
            .map(|(name, path)| (name.into(), path.into()))
            .collect()
    }

    /// Empties the directory, which is the same for every run.
    fn furnish(&self) {
        let work = self.cwd();
        // It is not there the first time.
        fs::remove_dir_all(&work).ok();
        fs::create_dir_all(work.join("sub/deep")).expect("directories");
        symlink("sub", work.join("link")).expect("a link");
        symlink("sub/deep", work.join("down")).expect("a link");
        fs::write(work.join("in"), "\u{1e}first\n\u{1e}second\n").expect("a file");
        fs::write(self.path("log"), "").expect("a file");
    }

    fn trace(&self, exit: i32, output: &[u8]) -> Trace {
        let calls = fs::read(self.path("log")).expect("a file");
        let calls = String::from_utf8_lossy(&calls).into_owned();
        let calls = calls.split_terminator('\u{1d}').map(str::to_owned);
        Trace {
            calls: calls.collect(),
            lines: lines(output),
            // What could not be entered or opened is 1 for some shells and 2 for others; no stub uses them.
            exit: if exit == 2 { 1 } else { exit },
            files: files(&self.cwd()),
        }
    }
}

/// Opens whatever shells open, directories too.
struct AnyFiles;

impl FileOpener for AnyFiles {
    fn open(&self, path: &Path, access: Access) -> io::Result<fs::File> {
        let mut options = fs::File::options();
        match access {
            Access::Read => options.read(true),
            Access::Replace => options.write(true).create(true).truncate(true),
            Access::Append => options.append(true).create(true),
        };
        options.open(path)
    }
}

/// Returns the lines that stubs print, without the error messages, which differ between shells.
fn lines(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let marked = text.split('\u{1e}').skip(1);
    let is_ours = |line: &&str| {
        let line = line.trim_start_matches("copy:");
        line == "first" || line == "second" || line.starts_with("out:") || line.starts_with("err:")
    };
    let lines = marked.filter_map(|line| Some(line.split_once('\n')?.0));
    lines.filter(is_ours).map(str::to_owned).collect()
}

fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            let content = fs::read(entry.path()).expect("a file");
            found.insert(entry.path(), lines(&content));
        }
    }
    found
}
