//! What the system knows of processes: those that carry a mark, and how much memory we took.
//! It reads and ends nothing.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of the variable by which a case finds its processes again.
pub(crate) const MARK: &str = "TOOLCALL_TEST_MARK";

/// A mark that no other case has.
pub(crate) fn fresh_mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("hostile-{}-{number}-", std::process::id())
}

/// Every process that carries the mark and is not just waiting to be reaped.
pub(crate) fn marked(mark: &str) -> Vec<String> {
    let entry = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    ids.filter(|id| id.parse::<u32>().is_ok())
        .filter(|id| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == entry.as_bytes())
        })
        .collect()
}

/// The most memory that this process ever held, in bytes.
pub(crate) fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes = peak.trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap() * 1024
}
