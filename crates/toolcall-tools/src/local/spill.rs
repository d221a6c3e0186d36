//! Long output kept in files of the state folder, one a call, readable by their owner only.
//! A session reads back no spill but its own, and no call fills the disk.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, DirEntry, File, OpenOptions, OpenOptionsExt as _};
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use toolcall::{CallId, Completeness, HostError, Spill};

use super::directories::open_private_directory;
use super::errors::host_error;
use super::reading::{FilePart, OpenFile};
use super::temporary::random_name;

/// How the name of every spill ends.
const SUFFIX: &str = ".spill";
/// What stays as it is in the path of an address.
const UNESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The spills of one session. They outlive it: history and people go on to point at them until
/// they are pruned.
#[derive(Debug)]
pub struct Spills {
    path: PathBuf,
    dir: Dir,
    cap: u64,
    session: String,
    calls: Mutex<HashMap<CallId, Arc<Mutex<CallSpill>>>>,
}

/// What is kept of one call.
#[derive(Debug)]
struct CallSpill {
    name: String,
    bytes: u64,
    completeness: Completeness,
}

impl Spills {
    /// What is kept of one call where nothing else is said.
    pub const DEFAULT_CAP: u64 = 256 * 1024 * 1024;

    /// Keeps spills in this folder, at most `cap` bytes a call. The folder is made if need be.
    pub fn new(dir: &Path, cap: u64) -> io::Result<Self> {
        let (path, dir) = open_private_directory(dir)?;
        Ok(Self {
            path,
            dir,
            cap,
            session: random_name().trim_start_matches('.').to_owned(),
            calls: Mutex::default(),
        })
    }

    /// Keeps more of a call's output.
    pub fn keep(&self, call: &CallId, bytes: &[u8]) -> Result<Spill, HostError> {
        let spill = self.spill(call);
        let mut spill = spill.lock();
        let room = match spill.completeness {
            Completeness::Whole => self.cap.saturating_sub(spill.bytes),
            Completeness::Capped => 0,
        };
        let fits = &bytes[..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        if fits.len() < bytes.len() {
            spill.completeness = Completeness::Capped;
        }
        let path = self.path.join(&spill.name);
        let written = self.write(&mut spill, fits);
        written.map_err(|error| host_error(&path, error))?;
        Ok(Spill {
            uri: file_uri(&path),
            bytes: spill.bytes,
            completeness: spill.completeness,
        })
    }

    /// Reads a spill of this session from a place on, at most `limit` bytes.
    pub fn read_spill(&self, path: &Path, from: u64, limit: u64) -> Result<FilePart, HostError> {
        let missing = || HostError::Missing(path.to_owned());
        let name = self.own_name(path).ok_or_else(missing)?;
        let mut options = OpenOptions::new();
        let opened = self.open(&name, options.read(true)).and_then(|file| {
            let metadata = file.metadata()?;
            OpenFile { file, metadata }.read_at(from, limit)
        });
        opened.map_err(|error| host_error(path, error))
    }

    /// Whether this session kept the spill at this path.
    pub fn owns(&self, path: &Path) -> bool {
        self.own_name(path).is_some()
    }

    /// Removes spills that were last written before this moment, of other sessions too but none
    /// of this one. It says how many.
    pub fn prune(&self, before: SystemTime) -> io::Result<usize> {
        let mut pruned = 0;
        for entry in self.dir.entries()? {
            match self.prune_one(&entry?, before) {
                Ok(was_old) => pruned += usize::from(was_old),
                // Another session prunes, too.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pruned)
    }

    fn prune_one(&self, entry: &DirEntry, before: SystemTime) -> io::Result<bool> {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_other = name.ends_with(SUFFIX) && !name.starts_with(&self.session);
        let was_old = is_other && entry.metadata()?.modified()?.into_std() < before;
        if was_old {
            entry.remove_file()?;
        }
        Ok(was_old)
    }

    fn spill(&self, call: &CallId) -> Arc<Mutex<CallSpill>> {
        let mut calls = self.calls.lock();
        let number = calls.len();
        let fresh = || {
            // A call's id is text from anywhere; a name of our own needs no cleaning.
            Arc::new(Mutex::new(CallSpill {
                name: format!("{}-{number}{SUFFIX}", self.session),
                bytes: 0,
                completeness: Completeness::Whole,
            }))
        };
        calls.entry(call.clone()).or_insert_with(fresh).clone()
    }

    /// What follows a write that failed would have a hole before it, so the spill ends there.
    fn write(&self, spill: &mut CallSpill, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() && spill.bytes > 0 {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        options.append(true).mode(0o600);
        match spill.bytes {
            0 => options.create(true),
            _ => &mut options,
        };
        let mut file = self.open(&spill.name, &mut options)?;
        match file.write_all(bytes) {
            Ok(()) => spill.bytes += bytes.len() as u64,
            Err(error) => {
                spill.completeness = Completeness::Capped;
                file.set_len(spill.bytes)?;
                return Err(error);
            }
        }
        Ok(())
    }

    fn open(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        let options = options.follow(FollowSymlinks::No);
        self.dir.open_with(name, options)
    }

    /// The name of the spill at this path, if this session kept it.
    fn own_name(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(&self.path).ok()?.to_str()?;
        let calls: Vec<_> = self.calls.lock().values().cloned().collect();
        let is_own = calls.iter().any(|spill| spill.lock().name == name);
        is_own.then(|| name.to_owned())
    }
}

fn file_uri(path: &Path) -> Arc<str> {
    format!(
        "file://{}",
        percent_encode(path.as_os_str().as_bytes(), UNESCAPED)
    )
    .into()
}
