//! One thread of a walk: it reads the names of folders, judges each, and visits those that are wanted.
//! It opens by single names beneath handles only, and never through a link.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, FileType, statat};

use super::names::{Name, Names, Rest};
use super::rules::{Present, Rules, Said};
use super::start::open_folder;
use super::workers::Workers;
use super::{DEEPEST, Found, Ignored, Kind, Passed, Visitor};

/// A process may often hold no more than 1024 handles, and others need some.
const MOST_HELD: usize = 128;
/// So many names of one folder are held at a time.
const CHUNK: usize = 8 * 1024;
/// So many names are visited in one piece of work.
const BATCH: usize = 32;
/// So many names are looked at in one walk.
const MOST_NAMES: u64 = 2_000_000;

/// What is left to do.
pub(super) enum Work {
    /// Read the names of a folder in another; of the start itself without one.
    Scan(Option<(Arc<Folder>, Name)>),
    /// Visit some names in a folder.
    Visit(Arc<Folder>, Vec<(Name, Kind)>),
}

/// What becomes of a name.
struct Fate {
    is_shown: bool,
    is_entered: bool,
}

/// A folder whose names were read.
pub(super) struct Folder {
    /// Without one it is opened again, name by name from the start.
    handle: Option<Arc<Handle>>,
    path: PathBuf,
    /// 0 for the start.
    depth: usize,
    rules: Option<Arc<Rules>>,
}

/// A handle that is counted.
struct Handle {
    folder: OwnedFd,
    held: Arc<AtomicUsize>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One thread.
pub(super) struct Worker<'a, V> {
    crew: &'a Workers<'a>,
    visitor: V,
    list: Vec<Work>,
    passed: Passed,
    /// Room to read names into.
    buffer: Vec<u8>,
    /// The path that is looked at.
    path: Vec<u8>,
}

impl<'a, V: Visitor> Worker<'a, V> {
    pub(super) fn new(crew: &'a Workers<'a>, visitor: V, list: Vec<Work>) -> Self {
        Self {
            crew,
            visitor,
            list,
            passed: Passed::default(),
            buffer: Vec::new(),
            path: Vec::new(),
        }
    }

    /// A thread leaves when all have nothing to do, or when the walk is over for all.
    pub(super) fn work(mut self) -> (V, Passed) {
        while let Some(work) = self.list.pop().or_else(|| self.crew.take()) {
            self.share();
            if self.is_over() || self.act(work).is_break() {
                break;
            }
        }
        (self.visitor, self.passed)
    }

    fn act(&mut self, work: Work) -> ControlFlow<()> {
        match work {
            Work::Scan(place) => {
                if self.scan(place.as_ref()).is_err() {
                    self.passed.unreadable += 1;
                }
                ControlFlow::Continue(())
            }
            Work::Visit(folder, names) => self.visit_all(&folder, &names),
        }
    }

    fn is_over(&self) -> bool {
        self.crew.is_over() || (self.crew.walk.is_cancelled)()
    }

    /// The older half is the larger: it lies higher in the tree.
    fn share(&mut self) {
        if self.list.len() > 1 && self.crew.idle.load(Ordering::Relaxed) > 0 {
            let half = self.list.len().div_ceil(2);
            self.crew.give(self.list.drain(..half));
        }
    }

    fn scan(&mut self, place: Option<&(Arc<Folder>, Name)>) -> io::Result<()> {
        let handle = self.enter(place)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.read_names(place, &handle, &mut buffer);
        self.buffer = buffer;
        read
    }

    fn read_names(
        &mut self,
        place: Option<&(Arc<Folder>, Name)>,
        handle: &Arc<Handle>,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut names = Names::of(handle.folder.as_fd(), buffer)?;
        let mut chunk = Vec::new();
        let mut rest = names.take(CHUNK, &mut chunk)?;
        let present = match rest {
            Rest::End => Present::among(&chunk),
            Rest::More => Present::UNKNOWN,
        };
        let folder = Arc::new(self.folder(place, handle, present));
        loop {
            self.sort_out(&folder, handle, &mut chunk);
            if rest == Rest::End || self.passed.too_many || self.is_over() {
                return Ok(());
            }
            rest = names.take(CHUNK, &mut chunk)?;
        }
    }

    fn enter(&self, place: Option<&(Arc<Folder>, Name)>) -> io::Result<Arc<Handle>> {
        let folder = match place {
            None => open_folder(&self.crew.start.folder, c".")?,
            Some((parent, name)) => open_folder(self.handle(parent)?.as_fd(), &*name.text)?,
        };
        Ok(self.count(folder))
    }

    fn count(&self, folder: OwnedFd) -> Arc<Handle> {
        self.crew.held.fetch_add(1, Ordering::Relaxed);
        let held = self.crew.held.clone();
        Arc::new(Handle { folder, held })
    }

    fn folder(
        &self,
        place: Option<&(Arc<Folder>, Name)>,
        handle: &Arc<Handle>,
        present: Present,
    ) -> Folder {
        let start = self.crew.start;
        let (path, depth, above) = match place {
            None => (start.path.clone(), 0, &start.rules),
            Some((parent, name)) => {
                let name = std::ffi::OsStr::from_bytes(name.text.to_bytes());
                (parent.path.join(name), parent.depth + 1, &parent.rules)
            }
        };
        let rules = match self.crew.walk.ignored {
            Ignored::Shown => None,
            Ignored::Hidden => {
                Rules::with_folder(above.clone(), handle.folder.as_fd(), &path, present)
            }
        };
        let is_kept = self.crew.held.load(Ordering::Relaxed) <= MOST_HELD;
        Folder {
            handle: is_kept.then(|| handle.clone()),
            path,
            depth,
            rules,
        }
    }

    /// What is to be visited, what is to be entered, and what is passed by.
    fn sort_out(&mut self, folder: &Arc<Folder>, handle: &Handle, chunk: &mut Vec<Name>) {
        let seen = self
            .crew
            .names
            .fetch_add(chunk.len() as u64, Ordering::Relaxed);
        if seen > MOST_NAMES {
            self.passed.too_many = true;
            return chunk.clear();
        }
        let mut batch = Vec::with_capacity(chunk.len().min(BATCH));
        let mut ahead = Vec::new();
        self.begin_path(folder);
        for name in chunk.drain(..) {
            let Some(kind) = kind_of(&name, handle.folder.as_fd()) else {
                continue; // Gone by now.
            };
            let fate = self.judge(folder, &name, kind);
            if fate.is_entered {
                let place = (folder.clone(), name.clone());
                self.list.push(Work::Scan(Some(place)));
            }
            if fate.is_shown {
                batch.push((name, kind));
            }
            if batch.len() == BATCH {
                ahead.push(std::mem::take(&mut batch));
            }
        }
        ahead.push(batch);
        let ahead = ahead.into_iter().filter(|batch| !batch.is_empty());
        self.list
            .extend(ahead.map(|batch| Work::Visit(folder.clone(), batch)));
    }

    fn judge(&mut self, folder: &Folder, name: &Name, kind: Kind) -> Fate {
        let walk = self.crew.walk;
        let base = self.path.len();
        self.path.extend_from_slice(name.text.to_bytes());
        let path = Path::new(std::ffi::OsStr::from_bytes(&self.path));
        let is_hidden = walk.ignored == Ignored::Hidden && is_hidden(folder, path, name, kind);
        let is_shown = !is_hidden && (walk.wants)(self.relative(path), kind);
        let is_entered = !is_hidden && self.is_entered(folder, name, kind);
        let is_denied = (is_shown || is_entered) && !(walk.admits)(path);
        self.path.truncate(base);
        self.passed.hidden += u64::from(is_hidden);
        self.passed.denied += u64::from(is_denied);
        let is_too_deep = is_entered && folder.depth + 1 >= DEEPEST;
        self.passed.too_deep += u64::from(is_too_deep);
        Fate {
            is_shown: is_shown && !is_denied,
            is_entered: is_entered && !is_denied && !is_too_deep,
        }
    }

    fn is_entered(&self, folder: &Folder, name: &Name, kind: Kind) -> bool {
        let is_within = folder.depth + 1 < self.crew.walk.depth;
        kind == Kind::Folder && is_within && *name.text != *c".git"
    }

    fn visit_all(&mut self, folder: &Folder, names: &[(Name, Kind)]) -> ControlFlow<()> {
        let Ok(handle) = self.handle(folder) else {
            self.passed.unreadable += 1;
            return ControlFlow::Continue(());
        };
        self.begin_path(folder);
        let base = self.path.len();
        for (name, kind) in names {
            if self.is_over() {
                return ControlFlow::Break(());
            }
            self.path.truncate(base);
            self.path.extend_from_slice(name.text.to_bytes());
            let path = Path::new(std::ffi::OsStr::from_bytes(&self.path));
            let found = Found {
                folder: handle.as_fd(),
                name: &name.text,
                kind: *kind,
                path,
                relative: self.relative(path),
                depth: folder.depth + 1,
            };
            self.visitor.visit(&found)?;
        }
        ControlFlow::Continue(())
    }

    fn begin_path(&mut self, folder: &Folder) {
        let bytes = folder.path.as_os_str().as_bytes();
        self.path.clear();
        self.path.extend_from_slice(bytes);
        if !bytes.ends_with(b"/") {
            self.path.push(b'/');
        }
    }

    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        let start = self.crew.start.path.as_os_str().as_bytes();
        let rest = &path.as_os_str().as_bytes()[start.len()..];
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        Path::new(std::ffi::OsStr::from_bytes(rest))
    }

    /// The handle of a folder; one that was let go is found again from the start, name by name.
    fn handle(&self, folder: &Folder) -> io::Result<Arc<Handle>> {
        if let Some(handle) = &folder.handle {
            return Ok(handle.clone());
        }
        let mut reached = open_folder(&self.crew.start.folder, c".")?;
        for name in self.relative(&folder.path) {
            reached = open_folder(&reached, name)?;
        }
        Ok(self.count(reached))
    }
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

fn is_hidden(folder: &Folder, path: &Path, name: &Name, kind: Kind) -> bool {
    let said = folder.rules.as_deref();
    match said.map_or(Said::Nothing, |rules| rules.say(path, kind)) {
        Said::Hide => true,
        Said::Show => false,
        Said::Nothing => name.text.to_bytes().starts_with(b"."),
    }
}

/// Not every file system says what a name stands for.
fn kind_of(name: &Name, folder: BorrowedFd<'_>) -> Option<Kind> {
    Kind::of(name.kind).or_else(|| {
        let stat = statat(folder, &*name.text, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Kind::of(FileType::from_raw_mode(stat.st_mode))
    })
}
