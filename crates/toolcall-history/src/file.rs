//! The file of a history: made for its owner only, opened, set aside when it is damaged.
//! It knows tables and modes, not what is kept.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::HistoryError;
use crate::schema;
use crate::settings::Durability;

/// The first version without the bug that could damage files in WAL mode with several writers.
const OLDEST_SQLITE: i32 = 3_051_003;

/// How long to wait for whoever opens the same file, or changes its version.
const OPENING: Duration = Duration::from_secs(60);

/// How long to wait before another look at a lock.
const ONE_LOOK: Duration = Duration::from_millis(2);

/// How long SQLite itself waits for another process before it says so; whoever asked tries again.
const ONE_WAIT: Duration = Duration::from_millis(500);

/// What was found when a file was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) db: Connection,
    /// A damaged file that was found in its place.
    pub(crate) set_aside: Option<DamagedFile>,
}

/// A damaged file that was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    /// Where it is now.
    pub place: PathBuf,
    /// What is wrong with it.
    pub damage: String,
}

/// Opens the file for writing; makes it, with its folder, if it is not there. One process at a time:
/// whoever sets a damaged file aside must not meet another who does.
pub(crate) fn open(path: &Path, durability: Durability) -> Result<Opened, HistoryError> {
    require_sqlite(rusqlite::version_number())?;
    make_folder(path)?;
    let turn = make_private(&beside(path, ".lock"))?;
    patiently(OPENING, || take(&turn))?;
    make_private(path)?;
    let mut set_aside = None;
    if let Some(damage) = damage(path)? {
        set_aside = Some(put_away(path, damage)?);
        make_private(path)?;
    }
    let mut db = connect(path)?;
    set_up(&db, durability)?;
    patiently(OPENING, || {
        schema::prepare(&mut db, &path.to_string_lossy())
    })?;
    Ok(Opened { db, set_aside })
}

/// Opens the file for reading; it must be there.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, HistoryError> {
    require_sqlite(rusqlite::version_number())?;
    if !path.exists() {
        return Err(HistoryError::Missing(format!("file `{}`", path.display())));
    }
    let mut db = connect(path)?;
    patiently(OPENING, || {
        schema::prepare(&mut db, &path.to_string_lossy())
    })?;
    db.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -64000;")?;
    Ok(db)
}

fn take(turn: &File) -> Result<(), HistoryError> {
    match turn.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(ONE_LOOK);
            Err(HistoryError::Busy)
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

fn require_sqlite(version: i32) -> Result<(), HistoryError> {
    if version >= OLDEST_SQLITE {
        Ok(())
    } else {
        Err(HistoryError::Other(format!(
            "SQLite has version {version}, and {OLDEST_SQLITE} is needed"
        )))
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return Ok(());
    };
    make_private_folder(folder)
}

/// Makes a folder for its owner only; one that is there stays as it is.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes or opens a file that only its owner reads. What SQLite puts beside it gets the same mode.
pub(crate) fn make_private(path: &Path) -> io::Result<File> {
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

/// The same path with something added to its name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn connect(path: &Path) -> Result<Connection, HistoryError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(ONE_WAIT)?;
    db.set_prepared_statement_cache_capacity(64);
    db.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
    Ok(db)
}

/// Deleted content is overwritten, in the file at once and in its journal when that is truncated.
fn set_up(db: &Connection, durability: Durability) -> Result<(), HistoryError> {
    let level = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    let pragmas = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {level}; PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;
         PRAGMA journal_size_limit = 67108864;"
    );
    patiently(OPENING, || Ok(db.execute_batch(&pragmas)?))
}

/// Tries again for as long as another process is in the way.
pub(crate) fn patiently<T>(
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

/// What is wrong with a file, if it is damaged. All of it is looked at only after a writer met damage.
fn damage(path: &Path) -> Result<Option<String>, HistoryError> {
    let suspect = beside(path, ".suspect");
    let looked = connect(path).and_then(|db| {
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        if suspect.exists() {
            Ok(db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))?)
        } else {
            Ok("ok".to_owned())
        }
    });
    match looked {
        Ok(said) if said == "ok" => {
            let _was_not_there = fs::remove_file(&suspect);
            Ok(None)
        }
        Ok(said) | Err(HistoryError::Damaged(said)) => Ok(Some(said)),
        Err(trouble) => Err(trouble),
    }
}

/// Says that a file should be looked at as a whole when it is opened next.
pub(crate) fn suspect(path: &Path) {
    let _best_effort = make_private(&beside(path, ".suspect"));
}

fn put_away(path: &Path, damage: String) -> Result<DamagedFile, HistoryError> {
    let place = (1..)
        .map(|number| beside(path, &format!(".damaged-{number}")))
        .find(|place| !place.exists())
        .unwrap_or_else(|| beside(path, ".damaged"));
    fs::rename(path, &place)?;
    for ending in ["-wal", "-shm"] {
        let _may_not_be_there = fs::rename(beside(path, ending), beside(&place, ending));
    }
    let _was_not_there = fs::remove_file(beside(path, ".suspect"));
    Ok(DamagedFile { place, damage })
}
