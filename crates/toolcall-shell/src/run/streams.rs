//! The standard streams of one program, as its redirects set them up.
//! It opens files only through the [`FileOpener`] of the run.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use tokio::process::Command;
use toolcall::{Redirect, Stream, Target};

use super::FileOpener;

/// The standard streams of a program.
pub(super) struct Streams {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) error: OwnedFd,
}

impl Streams {
    /// Applies redirects in order. The error message names the file.
    pub(super) fn redirect(
        &mut self,
        redirects: &[Redirect],
        files: &dyn FileOpener,
    ) -> Result<(), String> {
        for redirect in redirects {
            let opened = self.open(&redirect.target, files);
            let opened = opened.map_err(|error| message(&redirect.target, &error))?;
            *self.stream(redirect.stream) = opened;
        }
        Ok(())
    }

    fn open(&mut self, target: &Target, files: &dyn FileOpener) -> io::Result<OwnedFd> {
        match target {
            Target::Null => null(),
            Target::Stream(stream) => self.stream(*stream).try_clone(),
            Target::File { path, access } => Ok(files.open(path, *access)?.into()),
        }
    }

    fn stream(&mut self, stream: Stream) -> &mut OwnedFd {
        match stream {
            Stream::Input => &mut self.input,
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        }
    }

    /// Attaches the streams to a program.
    pub(super) fn attach_to(self, command: &mut Command) {
        command
            .stdin(Stdio::from(self.input))
            .stdout(Stdio::from(self.output))
            .stderr(Stdio::from(self.error));
    }
}

/// Opens `/dev/null` for reading and writing.
pub(super) fn null() -> io::Result<OwnedFd> {
    let file = File::options().read(true).write(true).open("/dev/null")?;
    Ok(file.into())
}

fn message(target: &Target, error: &io::Error) -> String {
    match target {
        Target::File { path, .. } => format!("`{}` cannot be opened: {error}", path.display()),
        Target::Null | Target::Stream(_) => format!("a stream cannot be opened: {error}"),
    }
}
