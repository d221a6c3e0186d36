//! Reads the names in a directory through its handle, a bounded number at a time.
//! It opens nothing and sorts nothing.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::FileType;

/// A name and its type as the directory lists it.
#[derive(Clone, Debug)]
pub(super) struct EntryName {
    pub(super) text: CString,
    pub(super) kind: FileType,
}

/// Whether a directory has more names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadProgress {
    More,
    End,
}

impl EntryName {
    /// `None` for `.` and `..`, and for names that are not valid.
    fn new(text: &CStr, kind: FileType) -> Option<Self> {
        let is_own = text != c"." && text != c"..";
        // The kernel creates no such names, but a FUSE file system could.
        let is_single = !text.to_bytes().contains(&b'/') && !text.is_empty();
        (is_own && is_single).then(|| Self {
            text: text.to_owned(),
            kind,
        })
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) struct NameReader<'a>(rustix::fs::RawDir<'a, BorrowedFd<'a>>);

/// Reads from the handle itself, which takes one system call less than `rustix::fs::Dir`.
#[cfg(any(target_os = "linux", target_os = "android"))]
impl<'a> NameReader<'a> {
    pub(super) fn of(dir: BorrowedFd<'a>, buffer: &'a mut Vec<u8>) -> io::Result<Self> {
        buffer.clear();
        buffer.reserve(32 * 1024);
        let room = buffer.spare_capacity_mut();
        Ok(Self(rustix::fs::RawDir::new(dir, room)))
    }

    /// Adds names until there are `most`.
    pub(super) fn take(
        &mut self,
        most: usize,
        into: &mut Vec<EntryName>,
    ) -> io::Result<ReadProgress> {
        while into.len() < most {
            let Some(entry) = self.0.next() else {
                return Ok(ReadProgress::End);
            };
            let entry = entry?;
            into.extend(EntryName::new(entry.file_name(), entry.file_type()));
        }
        Ok(ReadProgress::More)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) struct NameReader<'a>(rustix::fs::Dir, std::marker::PhantomData<&'a mut Vec<u8>>);

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl<'a> NameReader<'a> {
    pub(super) fn of(dir: BorrowedFd<'a>, _buffer: &'a mut Vec<u8>) -> io::Result<Self> {
        let stream = rustix::fs::Dir::read_from(dir)?;
        Ok(Self(stream, std::marker::PhantomData))
    }

    /// Adds names until there are `most`.
    pub(super) fn take(
        &mut self,
        most: usize,
        into: &mut Vec<EntryName>,
    ) -> io::Result<ReadProgress> {
        while into.len() < most {
            let Some(entry) = self.0.next() else {
                return Ok(ReadProgress::End);
            };
            let entry = entry?;
            into.extend(EntryName::new(entry.file_name(), entry.file_type()));
        }
        Ok(ReadProgress::More)
    }
}
