//! Decides which calls may run at the same time: those whose touches do not conflict.
//! It only computes; the engine waits.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::command::{Command, Reading};
use crate::intent::Touch;
use crate::map::FastMap;

/// A call's position in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Position(u64);

/// Whether a call may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Nothing blocks it.
    Ready,
    /// An earlier call has not stated its touches yet.
    Pending,
    /// An earlier call that conflicts with it has not ended.
    Blocked,
}

/// The order of the calls that have not ended.
///
/// A call waits for earlier calls that conflict with it. A nested call takes the position of its
/// parent and never waits for that one, nor for anything that waits for it: a call only waits for
/// what is earlier in the tree of calls, so there are no deadlocks.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    next: u64,
    /// Every call before this position has stated its touches or has ended.
    admitted: u64,
    slots: FastMap<Position, Slot>,
    files: BTreeMap<FileKey, Vec<(Position, FileAccess)>>,
    commands: BTreeMap<Position, Clarity>,
    /// The touches of the last calls that may have changed something, with the change count.
    recent_changes: VecDeque<(ChangeCount, Touches)>,
    change_count: ChangeCount,
    /// How many file accesses are writes: without writes and commands, no read can conflict.
    writes: usize,
}

/// A path as bytes, which is much faster to compare than components. Paths are absolute and without
/// `..`, and [`key`] removes `.` and extra separators, so that a path lies beneath another exactly
/// if it begins with `other/`.
type FileKey = Arc<[u8]>;

/// How many calls have ended that may have changed something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChangeCount(u64);

/// How many recent changes are kept; before that, anything may have changed.
const MOST_RECENT_CHANGES: usize = 256;

#[derive(Debug)]
struct Slot {
    /// The positions of its parent calls, outermost first.
    ancestors: Vec<Position>,
    touches: Option<Touches>,
    waits_for: BTreeSet<Position>,
    waited_for_by: Vec<Position>,
    /// Whether a conflicting call has ended since it prepared.
    is_outdated: bool,
}

/// The part of a call's touches that decides the order.
#[derive(Debug, Default)]
struct Touches {
    files: Vec<(FileKey, FileAccess)>,
    command: Option<Clarity>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileAccess {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Clarity {
    Understood,
    Unclear,
}

impl Schedule {
    /// Adds a call at the next position, nested in its parent's.
    pub(crate) fn enter(&mut self, parent: Option<Position>) -> Position {
        let position = Position(self.next);
        self.next += 1;
        let ancestors = match parent.and_then(|parent| Some((parent, self.slots.get(&parent)?))) {
            Some((parent, slot)) => [&slot.ancestors[..], &[parent]].concat(),
            None => Vec::new(),
        };
        self.slots.insert(position, Slot::new(ancestors));
        position
    }

    /// Sets what a call touches, the first time or again. Returns the calls that may be ready now.
    pub(crate) fn set_touches(&mut self, position: Position, touches: &[Touch]) -> Vec<Position> {
        self.forget_touches(position);
        let Some(slot) = self.slots.get_mut(&position) else {
            return Vec::new();
        };
        slot.touches = Some(Touches::of(touches));
        if position.0 < self.admitted {
            self.admit(position);
            return Vec::new();
        }
        self.advance(Some(position))
    }

    /// Returns how many calls have ended that may have changed something.
    pub(crate) fn change_count(&self) -> ChangeCount {
        self.change_count
    }

    /// Returns whether what a call read may have changed: it waited for a conflicting call, or one
    /// ended after `since`. Asking resets the first reason.
    pub(crate) fn is_outdated(&mut self, position: Position, since: ChangeCount) -> bool {
        let recent_changes = &self.recent_changes;
        let Some(slot) = self.slots.get_mut(&position) else {
            return false;
        };
        let waited = std::mem::take(&mut slot.is_outdated);
        let Some(touches) = &slot.touches else {
            return waited;
        };
        let oldest = recent_changes.front().map_or(since, |(number, _)| *number);
        let forgotten = oldest.0 > since.0 + 1;
        let mut later = recent_changes
            .iter()
            .rev()
            .take_while(|(number, _)| *number > since);
        waited || forgotten || later.any(|(_, other)| other.clashes_with(touches))
    }

    /// Returns whether a call may go on.
    pub(crate) fn readiness(&self, position: Position) -> Readiness {
        match self.slots.get(&position) {
            Some(_) if position.0 >= self.admitted => Readiness::Pending,
            Some(slot) if !slot.waits_for.is_empty() => Readiness::Blocked,
            Some(_) | None => Readiness::Ready,
        }
    }

    /// Removes a call that has ended. Returns the calls that may be ready now.
    pub(crate) fn leave(&mut self, position: Position) -> Vec<Position> {
        let touches = self.forget_touches(position);
        let Some(slot) = self.slots.remove(&position) else {
            return Vec::new();
        };
        self.remember(touches.filter(Touches::may_change));
        for blocker in &slot.waits_for {
            if let Some(blocker) = self.slots.get_mut(blocker) {
                blocker.waited_for_by.retain(|waiter| *waiter != position);
            }
        }
        let mut ready = self.advance(None);
        for waiter in slot.waited_for_by {
            let Some(waiting) = self.slots.get_mut(&waiter) else {
                continue;
            };
            if waiting.waits_for.remove(&position) && waiting.waits_for.is_empty() {
                ready.push(waiter);
            }
        }
        ready
    }

    fn remember(&mut self, touches: Option<Touches>) {
        let Some(touches) = touches else {
            return;
        };
        self.change_count.0 += 1;
        self.recent_changes.push_back((self.change_count, touches));
        if self.recent_changes.len() > MOST_RECENT_CHANGES {
            self.recent_changes.pop_front();
        }
    }

    /// Admits, in order, every call that has stated its touches. Returns those that wait for it,
    /// without the one that is stating its touches.
    fn advance(&mut self, announcing: Option<Position>) -> Vec<Position> {
        let mut admitted = Vec::new();
        while self.admitted < self.next {
            let position = Position(self.admitted);
            match self.slots.get(&position) {
                Some(slot) if slot.touches.is_none() => break,
                Some(_) => {
                    self.admitted += 1;
                    self.admit(position);
                    admitted.extend((announcing != Some(position)).then_some(position));
                }
                None => self.admitted += 1,
            }
        }
        admitted
    }

    fn admit(&mut self, position: Position) {
        let Some(touches) = self
            .slots
            .get_mut(&position)
            .and_then(|slot| slot.touches.take())
        else {
            return;
        };
        let blockers = self.blockers(position, &touches);
        for blocker in &blockers {
            if let Some(slot) = self.slots.get_mut(blocker) {
                slot.waited_for_by.push(position);
            }
        }
        self.index(position, &touches);
        if let Some(slot) = self.slots.get_mut(&position) {
            slot.is_outdated |= !blockers.is_empty();
            slot.waits_for = blockers;
            slot.touches = Some(touches);
        }
    }

    fn blockers(&self, position: Position, touches: &Touches) -> BTreeSet<Position> {
        let mut found = BTreeSet::new();
        let mut add = |other| {
            if self.goes_before(other, position) {
                found.insert(other);
            }
        };
        for (path, access) in &touches.files {
            self.find_file_conflicts(path, *access, &mut add);
            self.find_commands(
                |clarity| *access == FileAccess::Write || clarity == Clarity::Unclear,
                &mut add,
            );
        }
        if let Some(clarity) = touches.command {
            self.find_files(
                |access| access == FileAccess::Write || clarity == Clarity::Unclear,
                &mut add,
            );
            self.find_commands(
                |other| other == Clarity::Unclear || clarity == Clarity::Unclear,
                &mut add,
            );
        }
        found
    }

    /// Returns whether `other` is earlier in the tree of calls and not a parent of `position`.
    fn goes_before(&self, other: Position, position: Position) -> bool {
        let lineage = |position: Position| {
            let slot = self.slots.get(&position)?;
            Some(slot.ancestors.iter().copied().chain([position]))
        };
        let is_ancestor = self
            .slots
            .get(&position)
            .is_some_and(|slot| slot.ancestors.contains(&other));
        match (lineage(other), lineage(position)) {
            (Some(other), Some(own)) => !is_ancestor && other.lt(own),
            (_, _) => false,
        }
    }

    fn find_commands(&self, which: impl Fn(Clarity) -> bool, found: &mut impl FnMut(Position)) {
        let positions = self.commands.iter().filter(|(_, clarity)| which(**clarity));
        positions.for_each(|(position, _)| found(*position));
    }

    fn find_files(&self, which: impl Fn(FileAccess) -> bool, found: &mut impl FnMut(Position)) {
        let holders = self
            .files
            .values()
            .flatten()
            .filter(|(_, access)| which(*access));
        holders.for_each(|(position, _)| found(*position));
    }

    /// Finds conflicting accesses. A directory covers everything beneath it, so both ancestors and
    /// descendants count.
    fn find_file_conflicts(
        &self,
        path: &[u8],
        access: FileAccess,
        found: &mut impl FnMut(Position),
    ) {
        if access == FileAccess::Read && self.writes == 0 {
            return;
        }
        let above = ancestors(path).filter_map(|ancestor| self.files.get(ancestor));
        let lies_beneath = |other: &[u8]| other == path || is_beneath(other, path);
        let beneath = self
            .files
            .range::<[u8], _>((Bound::Included(path), Bound::Unbounded))
            .take_while(|(other, _)| other.starts_with(path))
            .filter(|(other, _)| lies_beneath(other))
            .map(|(_, holders)| holders);
        let clashes = |other: FileAccess| access == FileAccess::Write || other == FileAccess::Write;
        for (position, _) in above
            .chain(beneath)
            .flatten()
            .filter(|(_, other)| clashes(*other))
        {
            found(*position);
        }
    }

    fn index(&mut self, position: Position, touches: &Touches) {
        for (path, access) in &touches.files {
            self.files
                .entry(path.clone())
                .or_default()
                .push((position, *access));
            self.writes += usize::from(*access == FileAccess::Write);
        }
        if let Some(clarity) = touches.command {
            self.commands.insert(position, clarity);
        }
    }

    fn forget_touches(&mut self, position: Position) -> Option<Touches> {
        let touches = self.slots.get_mut(&position)?.touches.take()?;
        if position.0 >= self.admitted {
            return Some(touches);
        }
        self.commands.remove(&position);
        for (path, access) in &touches.files {
            self.writes -= usize::from(*access == FileAccess::Write);
            self.forget_file(path, position);
        }
        Some(touches)
    }

    fn forget_file(&mut self, path: &[u8], position: Position) {
        let Some(holders) = self.files.get_mut(path) else {
            return;
        };
        holders.retain(|(holder, _)| *holder != position);
        if holders.is_empty() {
            self.files.remove(path);
        }
    }
}

/// Returns the key of a path, however it is spelled: `/a/` and `/./a` are `/a`.
fn key(path: &Path) -> FileKey {
    let mut parts = bytes(path).split(is_separator).skip(1);
    if parts.any(|part| matches!(part, b"" | b".")) {
        bytes(&path.components().collect::<PathBuf>()).into()
    } else {
        bytes(path).into()
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

fn is_separator(byte: &u8) -> bool {
    std::path::is_separator(char::from(*byte))
}

/// Returns whether a path that begins with the bytes of a directory lies in it.
fn is_beneath(path: &[u8], folder: &[u8]) -> bool {
    folder.last().is_some_and(is_separator) || path.get(folder.len()).is_some_and(is_separator)
}

/// Returns the directories above a path, including the root.
fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let cut = |(position, byte): (usize, &u8)| is_separator(byte).then_some(position);
    let folders = path
        .iter()
        .enumerate()
        .filter_map(cut)
        .map(|position| &path[..position.max(1)]);
    folders.filter(|folder| folder.len() < path.len())
}

impl Slot {
    fn new(ancestors: Vec<Position>) -> Self {
        Self {
            ancestors,
            touches: None,
            waits_for: BTreeSet::new(),
            waited_for_by: Vec::new(),
            is_outdated: false,
        }
    }
}

impl Touches {
    fn of(touches: &[Touch]) -> Self {
        let mut found = Self::default();
        for touch in touches {
            match touch {
                Touch::Reads(path) => found.add(path, FileAccess::Read),
                Touch::Writes(path) | Touch::Deletes(path) => found.add(path, FileAccess::Write),
                Touch::Moves { from, to } => {
                    found.add(from, FileAccess::Write);
                    found.add(to, FileAccess::Write);
                }
                Touch::Runs(command) => found.command = found.command.max(Some(clarity(command))),
                // Unknown effects cannot be ordered; they are judged, not scheduled.
                Touch::Reaches(_) | Touch::Unknown => {}
            }
        }
        found
    }

    fn add(&mut self, path: &Path, access: FileAccess) {
        self.files.push((key(path), access));
    }

    fn may_change(&self) -> bool {
        self.command.is_some()
            || self
                .files
                .iter()
                .any(|(_, access)| *access == FileAccess::Write)
    }

    /// Returns whether two calls conflict.
    fn clashes_with(&self, other: &Touches) -> bool {
        let files = self.files.iter().any(|(path, access)| {
            let clashes = |(other, its): &(FileKey, FileAccess)| {
                let writes = *access == FileAccess::Write || *its == FileAccess::Write;
                writes && (contains(path, other) || contains(other, path))
            };
            other.files.iter().any(clashes)
        });
        files || self.command_clashes_with(other) || other.command_clashes_with(self)
    }

    fn command_clashes_with(&self, other: &Touches) -> bool {
        let Some(clarity) = self.command else {
            return false;
        };
        let is_unclear = clarity == Clarity::Unclear;
        let is_touched =
            |(_, access): &(FileKey, FileAccess)| is_unclear || *access == FileAccess::Write;
        other.files.iter().any(is_touched)
            || other
                .command
                .is_some_and(|other| is_unclear || other == Clarity::Unclear)
    }
}

/// Returns whether a path is the other or a directory above it.
fn contains(path: &[u8], other: &[u8]) -> bool {
    path == other || (other.starts_with(path) && is_beneath(other, path))
}

fn clarity(command: &Command) -> Clarity {
    match command.reading {
        Reading::Understood(_) => Clarity::Understood,
        Reading::Unclear(_) => Clarity::Unclear,
    }
}

#[cfg(test)]
mod nested;
#[cfg(test)]
mod tests;
