//! One thread of a walk: it reads directories, decides about each entry, and visits the wanted ones.
//! It opens single names beneath handles only, and never through a symlink.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, FileType, statat};

use super::names::{EntryName, NameReader, ReadProgress};
use super::rules::{IgnoreFiles, IgnoreRules, RuleMatch};
use super::start::open_directory;
use super::workers::Workers;
use super::{Found, Ignored, Kind, MAX_DEPTH, Passed, Visitor};

/// How many handles are kept open: the limit of a process is often 1024, and others need some.
const MAX_OPEN_HANDLES: usize = 128;
/// How many names of one directory are held at a time.
const NAMES_PER_READ: usize = 8 * 1024;
/// How many names one work item visits.
const NAMES_PER_VISIT: usize = 32;
/// How many names one walk looks at.
const MAX_NAMES: u64 = 2_000_000;

/// A piece of work that any thread can do.
pub(super) enum WorkItem {
    /// Read the names of a subdirectory, or of the start directory if `None`.
    Scan(Option<(Arc<ScannedDirectory>, EntryName)>),
    /// Visit some entries of a directory.
    Visit(Arc<ScannedDirectory>, Vec<(EntryName, Kind)>),
}

/// What to do with an entry.
struct EntryActions {
    is_shown: bool,
    is_entered: bool,
}

/// A directory whose names were read.
pub(super) struct ScannedDirectory {
    /// If `None`, the directory is opened again from the start, name by name.
    handle: Option<Arc<CountedHandle>>,
    path: PathBuf,
    /// 0 for the start.
    depth: usize,
    rules: Option<Arc<IgnoreRules>>,
}

/// An open directory, counted while it is open.
struct CountedHandle {
    dir: OwnedFd,
    open_handles: Arc<AtomicUsize>,
}

impl Drop for CountedHandle {
    fn drop(&mut self) {
        self.open_handles.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One thread of a walk.
pub(super) struct Worker<'a, V> {
    workers: &'a Workers<'a>,
    visitor: V,
    pending: Vec<WorkItem>,
    passed: Passed,
    /// The buffer that names are read into.
    buffer: Vec<u8>,
    /// The path of the current entry.
    path: Vec<u8>,
}

impl<'a, V: Visitor> Worker<'a, V> {
    pub(super) fn new(workers: &'a Workers<'a>, visitor: V, pending: Vec<WorkItem>) -> Self {
        Self {
            workers,
            visitor,
            pending,
            passed: Passed::default(),
            buffer: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Works until no thread has any work left, or the walk is over.
    pub(super) fn work(mut self) -> (V, Passed) {
        while let Some(work) = self.pending.pop().or_else(|| self.workers.next_work()) {
            self.share();
            if self.is_over() || self.act(work).is_break() {
                break;
            }
        }
        (self.visitor, self.passed)
    }

    fn act(&mut self, work: WorkItem) -> ControlFlow<()> {
        match work {
            WorkItem::Scan(subdir) => {
                if self.scan(subdir.as_ref()).is_err() {
                    self.passed.unreadable += 1;
                }
                ControlFlow::Continue(())
            }
            WorkItem::Visit(dir, names) => self.visit_all(&dir, &names),
        }
    }

    fn is_over(&self) -> bool {
        self.workers.is_over() || (self.workers.walk.is_cancelled)()
    }

    /// Gives half of its work to idle threads: the older half, which lies higher in the tree and so
    /// is larger.
    fn share(&mut self) {
        if self.pending.len() > 1 && self.workers.idle.load(Ordering::Relaxed) > 0 {
            let half = self.pending.len().div_ceil(2);
            self.workers.share_work(self.pending.drain(..half));
        }
    }

    fn scan(&mut self, subdir: Option<&(Arc<ScannedDirectory>, EntryName)>) -> io::Result<()> {
        let handle = self.enter(subdir)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.read_names(subdir, &handle, &mut buffer);
        self.buffer = buffer;
        read
    }

    fn read_names(
        &mut self,
        subdir: Option<&(Arc<ScannedDirectory>, EntryName)>,
        handle: &Arc<CountedHandle>,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut names = NameReader::of(handle.dir.as_fd(), buffer)?;
        let mut chunk = Vec::new();
        let mut rest = names.take(NAMES_PER_READ, &mut chunk)?;
        let present = match rest {
            ReadProgress::End => IgnoreFiles::among(&chunk),
            ReadProgress::More => IgnoreFiles::UNKNOWN,
        };
        let dir = Arc::new(self.scanned_directory(subdir, handle, present));
        loop {
            self.queue_names(&dir, handle, &mut chunk);
            if rest == ReadProgress::End || self.passed.too_many || self.is_over() {
                return Ok(());
            }
            rest = names.take(NAMES_PER_READ, &mut chunk)?;
        }
    }

    fn enter(
        &self,
        subdir: Option<&(Arc<ScannedDirectory>, EntryName)>,
    ) -> io::Result<Arc<CountedHandle>> {
        let dir = match subdir {
            None => open_directory(&self.workers.start.dir, c".")?,
            Some((parent, name)) => open_directory(self.handle(parent)?.as_fd(), &*name.text)?,
        };
        Ok(self.count(dir))
    }

    fn count(&self, dir: OwnedFd) -> Arc<CountedHandle> {
        self.workers.open_handles.fetch_add(1, Ordering::Relaxed);
        let open_handles = self.workers.open_handles.clone();
        Arc::new(CountedHandle { dir, open_handles })
    }

    fn scanned_directory(
        &self,
        subdir: Option<&(Arc<ScannedDirectory>, EntryName)>,
        handle: &Arc<CountedHandle>,
        present: IgnoreFiles,
    ) -> ScannedDirectory {
        let start = self.workers.start;
        let (path, depth, above) = match subdir {
            None => (start.path.clone(), 0, &start.rules),
            Some((parent, name)) => {
                let name = std::ffi::OsStr::from_bytes(name.text.to_bytes());
                (parent.path.join(name), parent.depth + 1, &parent.rules)
            }
        };
        let rules = match self.workers.walk.ignored {
            Ignored::Shown => None,
            Ignored::Hidden => {
                IgnoreRules::with_directory(above.clone(), handle.dir.as_fd(), &path, present)
            }
        };
        let is_kept = self.workers.open_handles.load(Ordering::Relaxed) <= MAX_OPEN_HANDLES;
        ScannedDirectory {
            handle: is_kept.then(|| handle.clone()),
            path,
            depth,
            rules,
        }
    }

    /// Decides about each name, and queues the entries to visit and the directories to enter.
    fn queue_names(
        &mut self,
        dir: &Arc<ScannedDirectory>,
        handle: &CountedHandle,
        chunk: &mut Vec<EntryName>,
    ) {
        let seen = self
            .workers
            .names
            .fetch_add(chunk.len() as u64, Ordering::Relaxed);
        if seen > MAX_NAMES {
            self.passed.too_many = true;
            return chunk.clear();
        }
        let mut batch = Vec::with_capacity(chunk.len().min(NAMES_PER_VISIT));
        let mut ahead = Vec::new();
        self.begin_path(dir);
        for name in chunk.drain(..) {
            let Some(kind) = kind_of(&name, handle.dir.as_fd()) else {
                continue; // It is gone.
            };
            let actions = self.decide(dir, &name, kind);
            if actions.is_entered {
                let subdir = (dir.clone(), name.clone());
                self.pending.push(WorkItem::Scan(Some(subdir)));
            }
            if actions.is_shown {
                batch.push((name, kind));
            }
            if batch.len() == NAMES_PER_VISIT {
                ahead.push(std::mem::take(&mut batch));
            }
        }
        ahead.push(batch);
        let ahead = ahead.into_iter().filter(|batch| !batch.is_empty());
        self.pending
            .extend(ahead.map(|batch| WorkItem::Visit(dir.clone(), batch)));
    }

    fn decide(&mut self, dir: &ScannedDirectory, name: &EntryName, kind: Kind) -> EntryActions {
        let walk = self.workers.walk;
        let base = self.path.len();
        self.path.extend_from_slice(name.text.to_bytes());
        let path = Path::new(std::ffi::OsStr::from_bytes(&self.path));
        let is_hidden = walk.ignored == Ignored::Hidden && is_hidden(dir, path, name, kind);
        let is_shown = !is_hidden && (walk.wants)(self.relative(path), kind);
        let is_entered = !is_hidden && self.is_entered(dir, name, kind);
        let is_denied = (is_shown || is_entered) && !(walk.admits)(path);
        self.path.truncate(base);
        self.passed.hidden += u64::from(is_hidden);
        self.passed.denied += u64::from(is_denied);
        let is_too_deep = is_entered && dir.depth + 1 >= MAX_DEPTH;
        self.passed.too_deep += u64::from(is_too_deep);
        EntryActions {
            is_shown: is_shown && !is_denied,
            is_entered: is_entered && !is_denied && !is_too_deep,
        }
    }

    fn is_entered(&self, dir: &ScannedDirectory, name: &EntryName, kind: Kind) -> bool {
        let is_within = dir.depth + 1 < self.workers.walk.depth;
        kind == Kind::Folder && is_within && *name.text != *c".git"
    }

    fn visit_all(
        &mut self,
        dir: &ScannedDirectory,
        names: &[(EntryName, Kind)],
    ) -> ControlFlow<()> {
        let Ok(handle) = self.handle(dir) else {
            self.passed.unreadable += 1;
            return ControlFlow::Continue(());
        };
        self.begin_path(dir);
        let base = self.path.len();
        for (name, kind) in names {
            if self.is_over() {
                return ControlFlow::Break(());
            }
            self.path.truncate(base);
            self.path.extend_from_slice(name.text.to_bytes());
            let path = Path::new(std::ffi::OsStr::from_bytes(&self.path));
            let found = Found {
                dir: handle.as_fd(),
                name: &name.text,
                kind: *kind,
                path,
                relative: self.relative(path),
                depth: dir.depth + 1,
            };
            self.visitor.visit(&found)?;
        }
        ControlFlow::Continue(())
    }

    fn begin_path(&mut self, dir: &ScannedDirectory) {
        let bytes = dir.path.as_os_str().as_bytes();
        self.path.clear();
        self.path.extend_from_slice(bytes);
        if !bytes.ends_with(b"/") {
            self.path.push(b'/');
        }
    }

    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        let start = self.workers.start.path.as_os_str().as_bytes();
        let rest = &path.as_os_str().as_bytes()[start.len()..];
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        Path::new(std::ffi::OsStr::from_bytes(rest))
    }

    /// Returns the handle of a directory. One that was closed is opened again from the start, name by
    /// name.
    fn handle(&self, dir: &ScannedDirectory) -> io::Result<Arc<CountedHandle>> {
        if let Some(handle) = &dir.handle {
            return Ok(handle.clone());
        }
        let mut reached = open_directory(&self.workers.start.dir, c".")?;
        for name in self.relative(&dir.path) {
            reached = open_directory(&reached, name)?;
        }
        Ok(self.count(reached))
    }
}

impl AsFd for CountedHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

fn is_hidden(dir: &ScannedDirectory, path: &Path, name: &EntryName, kind: Kind) -> bool {
    let rules = dir.rules.as_deref();
    match rules.map_or(RuleMatch::Nothing, |rules| rules.evaluate(path, kind)) {
        RuleMatch::Hide => true,
        RuleMatch::Show => false,
        RuleMatch::Nothing => name.text.to_bytes().starts_with(b"."),
    }
}

/// Returns the type of an entry. Not every file system lists it with the name.
fn kind_of(name: &EntryName, dir: BorrowedFd<'_>) -> Option<Kind> {
    Kind::of(name.kind).or_else(|| {
        let stat = statat(dir, &*name.text, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Kind::of(FileType::from_raw_mode(stat.st_mode))
    })
}
