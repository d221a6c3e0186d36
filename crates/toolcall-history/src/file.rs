//! Opens the file of a history: creates it for its owner only, renames it when it is damaged.
//! It knows connections, locks and file modes, not the contents.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::HistoryError;
use crate::schema;
use crate::settings::Durability;

/// The first version without the bug that could damage WAL files with several writers.
const MIN_SQLITE_VERSION: i32 = 3_051_003;

/// How long to wait for another process that opens or migrates the same file.
const OPEN_TIMEOUT: Duration = Duration::from_secs(60);

/// How long to sleep before trying the lock again.
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(2);

/// How long SQLite itself waits for a lock. Callers retry with [`retry_while_busy`].
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

/// An opened file.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    pub(crate) db: Connection,
    /// The damaged file that was found at the path and renamed.
    pub(crate) set_aside: Option<DamagedFile>,
}

/// A damaged history that was renamed to make place for a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    /// Its new path.
    pub place: PathBuf,
    /// What SQLite reports about it.
    pub damage: String,
}

/// Opens the file for writing; creates it and its directory if they do not exist.
///
/// A lock file lets one process at a time do this, because two must not rename the same damaged file.
pub(crate) fn open(path: &Path, durability: Durability) -> Result<OpenedFile, HistoryError> {
    check_sqlite_version(rusqlite::version_number())?;
    create_parent_dir(path)?;
    let lock_file = open_private_file(&with_suffix(path, ".lock"))?;
    retry_while_busy(OPEN_TIMEOUT, || try_lock(&lock_file))?;
    open_private_file(path)?;
    let mut set_aside = None;
    if let Some(damage) = damage(path)? {
        set_aside = Some(set_aside_file(path, damage)?);
        open_private_file(path)?;
    }
    let mut db = connect(path)?;
    set_pragmas(&db, durability)?;
    retry_while_busy(OPEN_TIMEOUT, || {
        schema::prepare(&mut db, &path.to_string_lossy())
    })?;
    Ok(OpenedFile { db, set_aside })
}

/// Opens an existing file for reading.
pub(crate) fn open_for_reading(path: &Path) -> Result<Connection, HistoryError> {
    check_sqlite_version(rusqlite::version_number())?;
    if !path.exists() {
        return Err(HistoryError::Missing(format!("file `{}`", path.display())));
    }
    let mut db = connect(path)?;
    retry_while_busy(OPEN_TIMEOUT, || {
        schema::prepare(&mut db, &path.to_string_lossy())
    })?;
    db.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -64000;")?;
    Ok(db)
}

fn try_lock(lock_file: &File) -> Result<(), HistoryError> {
    match lock_file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(LOCK_RETRY_DELAY);
            Err(HistoryError::Busy)
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

fn check_sqlite_version(version: i32) -> Result<(), HistoryError> {
    if version >= MIN_SQLITE_VERSION {
        Ok(())
    } else {
        Err(HistoryError::Other(format!(
            "SQLite has version {version}, and {MIN_SQLITE_VERSION} is needed"
        )))
    }
}

fn create_parent_dir(path: &Path) -> io::Result<()> {
    let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) else {
        return Ok(());
    };
    create_private_dir(dir)
}

/// Creates a directory that only its owner can use; an existing one keeps its mode.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Creates or opens a file with mode 0600. SQLite gives its own files beside it the same mode.
pub(crate) fn open_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Returns the path with a suffix appended to its file name.
pub(crate) fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn connect(path: &Path) -> Result<Connection, HistoryError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(64);
    db.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
    Ok(db)
}

/// Sets the pragmas of a writer. `secure_delete` overwrites deleted content in the file; truncating the WAL
/// removes it there.
fn set_pragmas(db: &Connection, durability: Durability) -> Result<(), HistoryError> {
    let level = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    let pragmas = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {level}; PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;
         PRAGMA journal_size_limit = 67108864;"
    );
    retry_while_busy(OPEN_TIMEOUT, || Ok(db.execute_batch(&pragmas)?))
}

/// Retries while another process holds a lock, until the time is up.
pub(crate) fn retry_while_busy<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> Result<T, HistoryError>,
) -> Result<T, HistoryError> {
    let began = std::time::Instant::now();
    loop {
        match attempt() {
            Err(HistoryError::Busy) if began.elapsed() < patience => std::thread::yield_now(),
            done => return done,
        }
    }
}

/// Returns what is wrong with a damaged file. The whole file is checked only after a writer met damage.
fn damage(path: &Path) -> Result<Option<String>, HistoryError> {
    let suspect = with_suffix(path, ".suspect");
    let checked = connect(path).and_then(|db| {
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        if suspect.exists() {
            Ok(db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))?)
        } else {
            Ok("ok".to_owned())
        }
    });
    match checked {
        Ok(message) if message == "ok" => {
            let _was_not_there = fs::remove_file(&suspect);
            Ok(None)
        }
        Ok(message) | Err(HistoryError::Damaged(message)) => Ok(Some(message)),
        Err(error) => Err(error),
    }
}

/// Marks a file so that the next open checks all of it.
pub(crate) fn mark_suspect(path: &Path) {
    let _best_effort = open_private_file(&with_suffix(path, ".suspect"));
}

fn set_aside_file(path: &Path, damage: String) -> Result<DamagedFile, HistoryError> {
    let place = (1..)
        .map(|number| with_suffix(path, &format!(".damaged-{number}")))
        .find(|place| !place.exists())
        .unwrap_or_else(|| with_suffix(path, ".damaged"));
    fs::rename(path, &place)?;
    for ending in ["-wal", "-shm"] {
        let _may_not_be_there = fs::rename(with_suffix(path, ending), with_suffix(&place, ending));
    }
    let _was_not_there = fs::remove_file(with_suffix(path, ".suspect"));
    Ok(DamagedFile { place, damage })
}
