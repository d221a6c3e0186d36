//! The one way to standard output: a bounded queue and a thread that writes it down.
//! It never makes a writer wait, and it takes a reader that went away for the end, not for an error.

use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use anyhow::Context as _;

const MOST_WAITING: usize = 4096;

/// Where text is shown. Clones show in the same place.
#[derive(Clone)]
pub(crate) struct Screen {
    queue: SyncSender<Piece>,
    lost: Arc<AtomicU64>,
}

/// The thread that writes.
pub(crate) struct Writing {
    screen: Screen,
    thread: JoinHandle<std::io::Result<()>>,
}

enum Piece {
    Text(String),
    /// All of these, before anything else.
    Held(Receiver<Piece>),
    End,
}

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    Listening,
    Gone,
}

/// Opens standard output. Colours are left out where they are not wanted.
pub(crate) fn open() -> anyhow::Result<(Screen, Writing)> {
    let (queue, pieces) = sync_channel(MOST_WAITING);
    let thread = std::thread::Builder::new()
        .name("screen".into())
        .spawn(move || write(&pieces, &mut anstream::stdout()))
        .context("no thread could be started to write the output; try again")?;
    let lost = Arc::default();
    let screen = Screen { queue, lost };
    let writing = Writing {
        screen: screen.clone(),
        thread,
    };
    Ok((screen, writing))
}

/// Shows lines that are all there already, however many.
pub(crate) fn print(lines: &[String]) -> anyhow::Result<()> {
    let (screen, writing) = open()?;
    if !lines.is_empty() {
        screen.line(&lines.join("\n"));
    }
    writing.finish()
}

impl Screen {
    /// Shows a line.
    pub(crate) fn line(&self, line: &str) -> Audience {
        self.text(format!("{line}\n"))
    }

    /// Shows text as it is.
    pub(crate) fn text(&self, text: String) -> Audience {
        match self.queue.try_send(Piece::Text(text)) {
            Ok(()) => Audience::Listening,
            Err(TrySendError::Disconnected(_)) => Audience::Gone,
            Err(TrySendError::Full(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
                Audience::Listening
            }
        }
    }

    /// Whether anybody still reads.
    pub(crate) fn audience(&self) -> Audience {
        self.text(String::new())
    }

    /// A place on the screen for a conversation: what is shown elsewhere waits until all clones of
    /// it are dropped.
    pub(crate) fn hold(&self) -> Screen {
        let (queue, pieces) = sync_channel(MOST_WAITING);
        let lost = self.lost.clone();
        match self.queue.try_send(Piece::Held(pieces)) {
            Ok(()) => Screen { queue, lost },
            // In between the others is better than not at all.
            Err(_) => self.clone(),
        }
    }
}

impl Writing {
    /// Waits until everything is written.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let _nobody_reads = self.screen.queue.send(Piece::End);
        let written = match self.thread.join() {
            Ok(written) => written,
            Err(_) => anyhow::bail!("the output broke off; run the command again"),
        };
        match self.screen.lost.load(Ordering::Relaxed) {
            0 => {}
            lost => anstream::eprintln!("warning: {lost} lines were left out: the output is slow"),
        }
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(error).context("the output could not be written; send it to another place")
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn write(pieces: &Receiver<Piece>, out: &mut impl Write) -> std::io::Result<()> {
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Piece::Held(conversation) => write(&conversation, out)?,
            Piece::End => break,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_during_a_conversation_comes_after_it() {
        let (queue, pieces) = sync_channel(MOST_WAITING);
        let lost = Arc::default();
        let screen = Screen { queue, lost };
        screen.line("before");
        let conversation = screen.hold();
        conversation.line("yes or no?");
        screen.line("meanwhile");
        conversation.line("please type one of them");
        drop((conversation, screen));
        let mut out = Vec::new();
        write(&pieces, &mut out).expect("memory");
        let expected = "before\nyes or no?\nplease type one of them\nmeanwhile\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
