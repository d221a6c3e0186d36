//! The processes of this machine, read from `/proc`, and signals to them.
//! It never signals a process that got a reused id; without `/proc` it finds nothing and signals nothing.

use std::collections::BTreeSet;
use std::io;

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process_group};

/// A process as `/proc` showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessInfo {
    pub(super) pid: Pid,
    parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// When it was started: together with the id, this is unique to the process.
    started: u64,
    state: ProcessState,
}

/// Whether a thread of the process still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessState {
    Running,
    /// It only waits to be reaped (a zombie).
    Exited,
}

impl ProcessInfo {
    /// Reads the process with this id, if there is one.
    fn find(pid: Pid) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Self::parse(pid, &String::from_utf8_lossy(&stat))
    }

    /// Parses `/proc/PID/stat`. The program's name may contain anything; the fields follow the last
    /// bracket.
    fn parse(pid: Pid, stat: &str) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<_> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        let threads: u64 = fields.get(17)?.parse().ok()?;
        // A process whose first thread has ended shows as a zombie while other threads still run.
        let state = match (*fields.first()?, threads) {
            ("Z" | "X", 0 | 1) => ProcessState::Exited,
            _ => ProcessState::Running,
        };
        Some(Self {
            pid,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
            state,
        })
    }

    /// Whether its environment contains this variable, as far as we may read it.
    pub(super) fn has_variable(&self, variable: &[u8]) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.pid.as_raw_nonzero()));
        let environment = environment.unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable)
    }

    /// Signals it, and never a process that has got its id since.
    #[cfg(target_os = "linux")]
    pub(super) fn signal(&self, signal: Signal) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let Ok(held) = pidfd_open(self.pid, PidfdFlags::empty()) else {
            return;
        };
        if Self::find(self.pid).is_some_and(|now| now.started == self.started) {
            // Fails only if the process is gone.
            pidfd_send_signal(held, signal).ok();
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid, signal).ok();
    }
}

/// Returns every running process, newest first: one that forks and exits all the time is then
/// likely to be found before its next fork.
fn running_processes() -> impl Iterator<Item = ProcessInfo> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut ids: Vec<i32> = ids.collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.into_iter()
        .filter_map(Pid::from_raw)
        .filter_map(ProcessInfo::find)
        .filter(|process| process.state == ProcessState::Running)
}

/// Kills each matching process as soon as it is found, and returns how many there were.
pub(super) fn kill_matching(is_target: impl Fn(&ProcessInfo) -> bool) -> usize {
    let targets = running_processes().filter(is_target);
    targets.inspect(|process| kill(&[*process])).count()
}

/// Returns every descendant of this process, adopted ones included.
pub(super) fn descendants() -> Vec<ProcessInfo> {
    let mut others: Vec<_> = running_processes().collect();
    let mut ours = BTreeSet::from([getpid().as_raw_nonzero().get()]);
    let mut found = Vec::new();
    loop {
        let (new, rest): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|process| ours.contains(&process.parent));
        if new.is_empty() {
            return found;
        }
        ours.extend(new.iter().map(|process| process.pid.as_raw_nonzero().get()));
        found.extend(new);
        others = rest;
    }
}

/// Returns the direct children of a process.
pub(super) fn children_of(pid: Pid, among: &[ProcessInfo]) -> impl Iterator<Item = &ProcessInfo> {
    let parent = pid.as_raw_nonzero().get();
    among.iter().filter(move |process| process.parent == parent)
}

/// Kills processes together with their process groups. A group is killed in one step, so a process
/// in it cannot escape by forking. The caller repeats this until no process is left.
pub(super) fn kill(found: &[ProcessInfo]) {
    let own = getpgrp();
    let groups: BTreeSet<_> = found.iter().map(|process| process.group).collect();
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        // Signalling group 1 would reach every process.
        if group != own && !group.is_init() {
            // Fails only if the group is empty.
            kill_process_group(group, Signal::KILL).ok();
        }
    }
    for process in found {
        process.signal(Signal::KILL);
    }
}

/// Makes this process the parent of every descendant that is orphaned from now on.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(getpid()))?)
}

/// Does nothing: on this system orphans always go to the init process.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_confuse_nobody() {
        let pid = getpid();
        let rest = "R 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 1 19 20 21";
        for name in ["a", ") R 1 1 1 (", "a b\n)"] {
            let process = ProcessInfo::parse(pid, &format!("7 ({name}) {rest}")).unwrap();
            let seen = (process.parent, process.group, process.session);
            assert_eq!((seen, process.started), ((2, 3, 4), 20));
        }
        assert_eq!(ProcessInfo::parse(pid, "7 (a"), None);
        assert_eq!(ProcessInfo::parse(pid, "7 (a) R 1"), None);
    }

    #[test]
    fn what_lost_its_first_thread_still_runs() {
        let state = |state: &str, threads: u8| {
            let rest = "2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
            let stat = format!("7 (a) {state} {rest} {threads} 19 20");
            ProcessInfo::parse(getpid(), &stat).unwrap().state
        };
        assert_eq!(state("Z", 1), ProcessState::Exited);
        assert_eq!(state("Z", 2), ProcessState::Running);
        assert_eq!(state("T", 1), ProcessState::Running);
    }
}
