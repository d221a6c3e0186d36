//! The three streams of one program, as its redirects set them up.
//! It opens files only through the one who was handed in.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use tokio::process::Command;
use toolcall::{Redirect, Stream, Target};

use super::Files;

/// Where a program reads and writes.
pub(super) struct Streams {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) error: OwnedFd,
}

impl Streams {
    /// Applies redirects in their order; on failure the message names the file.
    pub(super) fn redirect(
        &mut self,
        redirects: &[Redirect],
        files: &dyn Files,
    ) -> Result<(), String> {
        for redirect in redirects {
            let opened = self.open(&redirect.target, files);
            let opened = opened.map_err(|error| message(&redirect.target, &error))?;
            *self.stream(redirect.stream) = opened;
        }
        Ok(())
    }

    fn open(&mut self, target: &Target, files: &dyn Files) -> io::Result<OwnedFd> {
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

    /// Hands them to a program.
    pub(super) fn hand_to(self, command: &mut Command) {
        command
            .stdin(Stdio::from(self.input))
            .stdout(Stdio::from(self.output))
            .stderr(Stdio::from(self.error));
    }
}

/// A stream that is empty and takes everything.
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
