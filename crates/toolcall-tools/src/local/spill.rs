//! Stores long output in files of the state directory, one for each call, readable by the user only.
//! A session cannot read the spills of another, and no call can fill the disk.

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

/// The extension of spill files.
const SUFFIX: &str = ".spill";
/// The characters that are not escaped in a `file://` URI.
const UNESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The spills of one session: long output, stored in files. They outlive the session, because the
/// history and the user's links refer to them until they are pruned.
///
/// ```
/// use toolcall::CallId;
/// use toolcall_tools::local::Spills;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let state = tempfile::tempdir()?;
/// let spills = Spills::new(&state.path().join("spills"), Spills::DEFAULT_CAP)?;
/// let call = CallId::new("call-1");
/// spills.keep(&call, b"first part, ")?;
/// let spill = spills.keep(&call, b"second part")?;
/// assert_eq!(spill.bytes, 23);
/// assert!(spill.uri.starts_with("file://"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Spills {
    path: PathBuf,
    dir: Dir,
    cap: u64,
    session: String,
    calls: Mutex<HashMap<CallId, Arc<Mutex<CallSpill>>>>,
}

/// The spill of one call.
#[derive(Debug)]
struct CallSpill {
    name: String,
    bytes: u64,
    completeness: Completeness,
}

impl Spills {
    /// The default limit of the output stored for one call, in bytes.
    pub const DEFAULT_CAP: u64 = 256 * 1024 * 1024;

    /// Stores spills in this directory, at most `cap` bytes for each call. Creates the directory if
    /// needed.
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

    /// Appends to the spill of a call.
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

    /// Reads at most `limit` bytes of a spill of this session, starting at offset `from`.
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

    /// Whether the path is that of a spill of this session.
    pub fn owns(&self, path: &Path) -> bool {
        self.own_name(path).is_some()
    }

    /// Removes spills of other sessions that were last written before this time, and returns how
    /// many.
    pub fn prune(&self, before: SystemTime) -> io::Result<usize> {
        let mut pruned = 0;
        for entry in self.dir.entries()? {
            match self.prune_one(&entry?, before) {
                Ok(was_old) => pruned += usize::from(was_old),
                // Another session has just pruned it.
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
            // The id of a call is untrusted text, so the file name does not contain it.
            Arc::new(Mutex::new(CallSpill {
                name: format!("{}-{number}{SUFFIX}", self.session),
                bytes: 0,
                completeness: Completeness::Whole,
            }))
        };
        calls.entry(call.clone()).or_insert_with(fresh).clone()
    }

    /// Appends to the file. After a failed write the spill ends, because the file would have a hole.
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

    /// Returns the file name of the spill at this path, if it belongs to this session.
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
