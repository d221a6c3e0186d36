//! The messages between caller, supervisor and executor: a job and a report, a line of JSON each.
//! It is plain data: it starts no process and opens no file.

use std::ffi::OsString;
use std::io::{self, BufRead, Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{ExitForm, JoinForm, path, redirects};
use toolcall::{Exit, Join, Part, Redirect};

use super::sandbox::Network;
use crate::local::RootId;

/// The limit of a job; the system accepts no arguments and variables of this size, either.
const MAX_JOB_BYTES: u64 = 32 * 1024 * 1024;
/// The limit of a report.
pub(super) const MAX_REPORT_BYTES: u64 = 16 * 1024;

/// A command with everything needed to run it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobRequest {
    pub(super) parts: Vec<JobPart>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) roots: Vec<JobRoot>,
    /// Set if the paths of redirects were resolved before.
    #[serde(rename = "refuses_links")]
    pub(super) refuses_symlinks: bool,
    pub(super) grace: Duration,
    #[serde(rename = "walls")]
    pub(super) isolation: Option<Isolation>,
}

/// The sandbox of a command, with its paths.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Isolation {
    pub(super) writable: Vec<OsString>,
    pub(super) network: Network,
    /// The private `TMPDIR`, created for the command and removed with it.
    #[serde(rename = "folder")]
    pub(super) temp_dir: OsString,
}

/// A root of the session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobRoot {
    path: OsString,
    device: u64,
    inode: u64,
}

impl From<RootId> for JobRoot {
    fn from(id: RootId) -> Self {
        Self {
            path: id.path.into(),
            device: id.device,
            inode: id.inode,
        }
    }
}

impl From<&JobRoot> for RootId {
    fn from(root: &JobRoot) -> Self {
        Self {
            path: root.path.clone().into(),
            device: root.device,
            inode: root.inode,
        }
    }
}

/// How a command ended, or why it did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CommandReport {
    #[serde(with = "ExitForm")]
    Ended(Exit),
    Failed(String),
}

impl From<Result<Exit, String>> for CommandReport {
    fn from(ended: Result<Exit, String>) -> Self {
        match ended {
            Ok(exit) => Self::Ended(exit),
            Err(why) => Self::Failed(why),
        }
    }
}

impl From<CommandReport> for Result<Exit, String> {
    fn from(report: CommandReport) -> Self {
        match report {
            CommandReport::Ended(exit) => Ok(exit),
            CommandReport::Failed(why) => Err(why),
        }
    }
}

impl JobRequest {
    /// Encodes the job as a line.
    pub(super) fn to_line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        if line.len() as u64 > MAX_JOB_BYTES {
            return Err(io::Error::other("the command is too long"));
        }
        Ok(line)
    }

    /// Reads a job; returns its line, too. An incomplete line is an error.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<(Vec<u8>, Self)> {
        let mut line = Vec::new();
        from.take(MAX_JOB_BYTES).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Err(io::Error::other("it was stopped before it began"));
        }
        let job = serde_json::from_slice(&line)?;
        Ok((line, job))
    }
}

impl CommandReport {
    /// Writes the report to standard error. If the reader is gone, nothing is lost.
    pub(super) fn send(&self) {
        if let Ok(mut line) = serde_json::to_vec(self) {
            line.push(b'\n');
            io::stderr().write_all(&line).ok();
        }
    }

    /// Parses a report. Other text, such as that of a panic, is `None`.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}

/// One program of the command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct JobPart(#[serde(with = "PartForm")] pub(super) Part);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Part", deny_unknown_fields)]
struct PartForm {
    #[serde(with = "JoinForm")]
    join: Join,
    argv: Vec<String>,
    #[serde(with = "path")]
    cwd: PathBuf,
    #[serde(with = "redirects")]
    redirects: Vec<Redirect>,
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use toolcall::{Access, Stream, Target};

    use super::*;

    fn job() -> JobRequest {
        let odd = OsString::from_vec(b"/a/\xff\n".to_vec());
        let file = |access| Target::File {
            path: odd.clone().into(),
            access,
        };
        let redirect = |stream, target| Redirect { stream, target };
        let part = Part {
            join: Join::Pipe,
            argv: vec!["a".into(), "\"\n".into()],
            cwd: odd.clone().into(),
            redirects: vec![
                redirect(Stream::Input, file(Access::Read)),
                redirect(Stream::Output, file(Access::Append)),
                redirect(Stream::Output, file(Access::Replace)),
                redirect(Stream::Error, Target::Stream(Stream::Output)),
                redirect(Stream::Error, Target::Null),
            ],
        };
        JobRequest {
            parts: vec![JobPart(part)],
            env: vec![("A".into(), odd.clone())],
            roots: vec![JobRoot {
                path: odd.clone(),
                device: u64::MAX,
                inode: 1,
            }],
            refuses_symlinks: true,
            grace: Duration::from_millis(1500),
            isolation: Some(Isolation {
                writable: vec![odd],
                network: Network::Allowed,
                temp_dir: "/tmp/x".into(),
            }),
        }
    }

    #[test]
    fn a_job_arrives_as_it_was_sent() {
        let line = job().to_line().unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let (same, read) = JobRequest::read(&mut &line[..]).unwrap();
        assert_eq!(same, line);
        assert_eq!(format!("{read:?}"), format!("{:?}", job()));
    }

    #[test]
    fn half_a_job_is_none() {
        let line = job().to_line().unwrap();
        for end in [0, 1, line.len() - 1] {
            let why = JobRequest::read(&mut &line[..end]).unwrap_err().to_string();
            assert_eq!(why, "it was stopped before it began");
        }
    }

    #[test]
    fn reports_tell_codes_and_signals_apart() {
        for ended in [Ok(Exit::Code(9)), Ok(Exit::Signal(9)), Err("why".into())] {
            let line = serde_json::to_vec(&CommandReport::from(ended.clone())).unwrap();
            let read = CommandReport::parse(&line).map(Result::from);
            assert_eq!(read, Some(ended));
        }
        assert_eq!(CommandReport::parse(b"thread 'main' panicked"), None);
    }
}
