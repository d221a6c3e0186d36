//! What a command prints: one pipe that all its programs share, read as it fills.
//! It keeps nothing beyond one buffer, so a flood costs no memory.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;

use tokio::net::unix::pipe::Receiver;

const BUFFER: usize = 16 * 1024;

/// At the end no more is read than a pipe can hold: a process that escaped may write forever.
const MOST_REST: usize = 1024 * 1024;

/// The reading end.
pub(super) struct Output {
    pipe: Receiver,
    buffer: Box<[u8]>,
}

impl Output {
    pub(super) fn new() -> io::Result<(Self, PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        let pipe = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let buffer = vec![0; BUFFER].into();
        Ok((Self { pipe, buffer }, writer))
    }

    /// Hands on what is printed while the work goes on; nothing is returned if it was stopped.
    pub(super) async fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
        stop: impl Future<Output = ()>,
        print: &mut impl FnMut(&[u8]),
    ) -> Option<T> {
        let mut work = pin!(work);
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                // What was stopped before it began must not begin.
                biased;
                () = &mut stop => return None,
                done = &mut work => return Some(done),
                result = self.pipe.readable() => match result {
                    Ok(()) => self.hand_on(print),
                    // Nobody can be told what is printed; what runs still has to end.
                    Err(_) => return Some(work.await),
                },
            }
        }
    }

    fn hand_on(&mut self, print: &mut impl FnMut(&[u8])) {
        match self.pipe.try_read(&mut self.buffer) {
            Ok(read) if read > 0 => print(&self.buffer[..read]),
            // It was a false alarm.
            Ok(_) | Err(_) => {}
        }
    }

    /// Hands on what is still in the pipe, without waiting for more.
    pub(super) fn rest(mut self, print: &mut impl FnMut(&[u8])) {
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
