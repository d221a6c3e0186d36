//! What a command prints: one pipe that all its programs share, read as it fills.
//! It keeps nothing beyond one buffer, so a flood costs no memory.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;

use tokio::net::unix::pipe::Receiver;

const BUFFER: usize = 16 * 1024;

/// At the end no more is read than a pipe can hold: a process that escaped may write forever.
const MOST_REST: usize = 1024 * 1024;

/// The reading end of a pipe into which everything of a command writes.
#[derive(Debug)]
pub struct OutputPipe {
    pipe: Receiver,
    buffer: Box<[u8]>,
}

/// Whether somebody can still write into a pipe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writers {
    Left,
    Gone,
}

impl OutputPipe {
    /// A pipe: its reading end, and the end that is handed to a command.
    pub fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        let pipe = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let buffer = vec![0; BUFFER].into();
        Ok((Self { pipe, buffer }, writer.into()))
    }

    /// Hands on what is printed while the work goes on.
    pub async fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
        print: &mut impl FnMut(&[u8]),
    ) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                // What was stopped before it began must not begin: the work looks first.
                biased;
                done = &mut work => return done,
                result = self.pipe.readable() => {
                    if result.is_err() || self.hand_on(print) == Writers::Gone {
                        // Nothing more can be printed; what runs still has to end.
                        return work.await;
                    }
                }
            }
            // A command that prints faster than it is read must not keep others from running:
            // who waits for the pipe never has to wait.
            tokio::task::yield_now().await;
        }
    }

    fn hand_on(&mut self, print: &mut impl FnMut(&[u8])) -> Writers {
        match self.pipe.try_read(&mut self.buffer) {
            Ok(0) => return Writers::Gone,
            Ok(read) => print(&self.buffer[..read]),
            // It was a false alarm.
            Err(_) => {}
        }
        Writers::Left
    }

    /// Hands on what is still in the pipe, without waiting for more.
    pub fn rest(mut self, print: &mut impl FnMut(&[u8])) {
        let mut total = 0;
        while total < MOST_REST {
            // Past tokio: it may not know yet that there is something to read.
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
