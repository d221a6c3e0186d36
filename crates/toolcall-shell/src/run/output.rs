//! The output of a command: one pipe that all its programs share, read as it fills.
//! It holds one buffer, so its memory use does not depend on the amount of output.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;

use tokio::net::unix::pipe::Receiver;

const BUFFER: usize = 16 * 1024;

/// The limit on what is read at the end, about the capacity of a pipe: an escaped process may write forever.
const MAX_REST: usize = 1024 * 1024;

/// The reading end of the pipe that all programs of a command write to.
#[derive(Debug)]
pub struct OutputPipe {
    pipe: Receiver,
    buffer: Box<[u8]>,
}

/// Whether a process still has the writing end of a pipe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PipeState {
    Open,
    Closed,
}

impl OutputPipe {
    /// Returns the reading end of a new pipe, and the writing end for the command.
    pub fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        let pipe = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let buffer = vec![0; BUFFER].into();
        Ok((Self { pipe, buffer }, writer.into()))
    }

    /// Passes the output to `print` until `work` is done, and returns the result of `work`.
    pub async fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
        print: &mut impl FnMut(&[u8]),
    ) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                // A command that is stopped before it begins must not begin, so `work` is polled first.
                biased;
                done = &mut work => return done,
                result = self.pipe.readable() => {
                    if result.is_err() || self.read_available(print) == PipeState::Closed {
                        // The pipe is closed; the programs still have to exit.
                        return work.await;
                    }
                }
            }
            // A command that prints faster than it is read must not starve other tasks: the pipe is
            // always ready then, so this loop would never yield.
            tokio::task::yield_now().await;
        }
    }

    fn read_available(&mut self, print: &mut impl FnMut(&[u8])) -> PipeState {
        match self.pipe.try_read(&mut self.buffer) {
            Ok(0) => return PipeState::Closed,
            Ok(read) => print(&self.buffer[..read]),
            // A spurious wakeup.
            Err(_) => {}
        }
        PipeState::Open
    }

    /// Passes what is left in the pipe to `print`, without waiting for more.
    pub fn rest(mut self, print: &mut impl FnMut(&[u8])) {
        let mut total = 0;
        while total < MAX_REST {
            // Not through tokio, which may not know yet that there is something to read.
            match rustix::io::read(self.pipe.as_fd(), &mut *self.buffer) {
                Ok(read) if read > 0 => {
                    print(&self.buffer[..read]);
                    total += read;
                }
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}
