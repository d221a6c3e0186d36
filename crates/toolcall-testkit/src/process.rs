//! Tests in processes of their own, and what the system knows of processes. It must not end one that it did not start.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of the variable by which a test finds its processes again.
pub const MARK: &str = "TOOLCALL_TEST_MARK";

/// The name of the variable that holds the role of a process started by [`again`].
pub const ROLE: &str = "TOOLCALL_TEST_ROLE";

/// A command that runs one test of this binary again, named by its whole path, in a process of its own.
///
/// The test sees from [`role`] that it is the second one, and what it is to do. The harness speaks on
/// standard output, so a test that has to be understood uses standard error.
pub fn again(test: &str, role: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(own_path());
    command.args(args(test)).env(ROLE, role);
    command
}

/// The same in a process whose writes beyond so many blocks of a file fail, as on a full disk.
///
/// The limit holds for the standard output of the process as well, if that is a file.
pub fn again_with_file_limit(test: &str, blocks: u32) -> Command {
    // The signal is ignored, so that writing fails instead.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(own_path());
    command.args(args(test)).env(ROLE, "limited");
    command
}

/// The role of this process, if [`again`] started it.
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

fn own_path() -> PathBuf {
    std::env::current_exe().expect("the path of this test")
}

fn args(test: &str) -> [&str; 4] {
    [test, "--exact", "--nocapture", "--test-threads=1"]
}

/// A value for [`MARK`] that no other test has.
pub fn fresh_mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}-", std::process::id())
}

/// The ids of the processes that carry the mark and are not just waiting to be reaped.
pub fn marked(mark: &str) -> Vec<u32> {
    let marked = Process::all().filter(|process| process.has_variable(MARK, mark));
    marked.map(|process| process.0).collect()
}

/// A process of this machine, as Linux tells of it.
#[derive(Debug)]
pub struct Process(u32);

impl Process {
    /// The process with this id.
    pub fn new(id: u32) -> Self {
        Self(id)
    }

    /// This process.
    pub fn own() -> Self {
        Self(std::process::id())
    }

    /// Every process that is there now.
    pub fn all() -> impl Iterator<Item = Self> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.map(Self)
    }

    /// The id.
    pub fn id(&self) -> u32 {
        self.0
    }

    /// The words it was started with; none if it has ended and waits to be reaped.
    pub fn words(&self) -> Vec<String> {
        let line = self.file("cmdline");
        let words = line.split_terminator('\0');
        words.map(str::to_owned).collect()
    }

    /// Whether it was started with this variable in its environment.
    pub fn has_variable(&self, name: &str, value: &str) -> bool {
        let (variables, entry) = (self.file("environ"), format!("{name}={value}"));
        variables.split('\0').any(|variable| variable == entry)
    }

    /// Its working directory; empty if it has ended.
    pub fn cwd(&self) -> PathBuf {
        fs::read_link(self.path("cwd")).unwrap_or_default()
    }

    /// The line of its status.
    pub fn stat(&self) -> String {
        self.file("stat")
    }

    /// The most memory that it ever held, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let status = self.file("status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
        let kibibytes = kibibytes.and_then(|number| number.parse::<u64>().ok());
        kibibytes.expect("a process that is there") * 1024
    }

    fn path(&self, name: &str) -> PathBuf {
        format!("/proc/{}/{name}", self.0).into()
    }

    fn file(&self, name: &str) -> String {
        let bytes = fs::read(self.path(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
