//! The process group of one command, and the child processes in it.
//! It spawns, waits for and signals them; the job decides what runs when.
//!
//! The first child leads the group and is not reaped before the group is dropped: until then its id
//! names this group and no other, and later children can join.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal as UnixSignal, SignalKind, signal};
use toolcall::Exit;

/// The index of a child in its group.
#[derive(Clone, Copy)]
pub(super) struct ChildIndex(usize);

/// The child processes of a command.
pub(super) struct ProcessGroup {
    /// The first one leads the group.
    children: Vec<Child>,
    leader: Option<Pid>,
    /// Receives `SIGCHLD` when any child of this process exits.
    child_exited: UnixSignal,
}

impl ProcessGroup {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            children: Vec::new(),
            leader: None,
            child_exited: signal(SignalKind::child())?,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    pub(super) fn spawn(&mut self, command: &mut Command) -> io::Result<ChildIndex> {
        let group = self.leader.map_or(0, |pid| pid.as_raw_nonzero().get());
        let child = command.process_group(group).kill_on_drop(true).spawn()?;
        if self.leader.is_none() {
            self.leader = child.id().and_then(as_pid);
        }
        self.children.push(child);
        Ok(ChildIndex(self.children.len() - 1))
    }

    pub(super) async fn wait(&mut self, member: ChildIndex) -> io::Result<Exit> {
        match (member, self.leader) {
            (ChildIndex(0), Some(leader)) => self.wait_for_leader(leader).await,
            (ChildIndex(index), _) => Ok(exit(self.children[index].wait().await?)),
        }
    }

    async fn wait_for_leader(&mut self, leader: Pid) -> io::Result<Exit> {
        loop {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(leader), options) {
                Ok(Some(status)) => {
                    let signal = status.terminating_signal().map(Exit::Signal);
                    let code = status.exit_status().map(Exit::Code);
                    return Ok(signal.or(code).unwrap_or(Exit::Code(0)));
                }
                Ok(None) => drop(self.child_exited.recv().await),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends `SIGTERM`, then `SIGKILL` after the grace period, and returns the exit status of the last child.
    pub(super) async fn end(&mut self, grace: Duration) -> Option<Exit> {
        self.signal(Signal::TERM);
        let ended = tokio::time::timeout(grace, self.wait_for_all()).await;
        // Also if all children exited in time: their own children may be left.
        self.signal(Signal::KILL);
        match ended {
            Ok(exit) => exit,
            Err(_) => {
                let killed = tokio::time::timeout(grace, self.wait_for_all()).await;
                killed.unwrap_or_default()
            }
        }
    }

    async fn wait_for_all(&mut self) -> Option<Exit> {
        let mut last = None;
        for index in 0..self.children.len() {
            last = self.wait(ChildIndex(index)).await.ok();
        }
        last
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // It fails only if no process is left.
            kill_process_group(leader, signal).ok();
        }
    }
}

impl Drop for ProcessGroup {
    /// Kills the group; tokio reaps the children afterwards.
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn as_pid(id: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(id).ok()?)
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(0),
    }
}
