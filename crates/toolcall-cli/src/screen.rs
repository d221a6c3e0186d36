//! Standard output: a bounded queue, and a thread that writes it.
//! It never blocks a caller, and treats a closed pipe as the end, not as an error.

use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use anyhow::Context as _;

const QUEUE_LENGTH: usize = 4096;

/// A handle to standard output. Clones share the queue.
#[derive(Clone)]
pub(crate) struct Screen {
    queue: SyncSender<OutputItem>,
    dropped: Arc<AtomicU64>,
}

/// The thread that writes to standard output.
pub(crate) struct OutputThread {
    screen: Screen,
    thread: JoinHandle<std::io::Result<()>>,
}

enum OutputItem {
    Text(String),
    /// The items of a dialog, which are written before anything else.
    Dialog(Receiver<OutputItem>),
    End,
}

/// Whether the reader of standard output is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputState {
    Open,
    Closed,
}

/// Opens standard output. Colours are stripped if it is not a terminal or the user does not want them.
pub(crate) fn open() -> anyhow::Result<(Screen, OutputThread)> {
    let (queue, items) = sync_channel(QUEUE_LENGTH);
    let thread = std::thread::Builder::new()
        .name("screen".into())
        .spawn(move || write(&items, &mut anstream::stdout()))
        .context("the output thread cannot be started; try again")?;
    let dropped = Arc::default();
    let screen = Screen { queue, dropped };
    let output = OutputThread {
        screen: screen.clone(),
        thread,
    };
    Ok((screen, output))
}

/// Writes all lines and waits until they are written.
pub(crate) fn print(lines: &[String]) -> anyhow::Result<()> {
    let (screen, output) = open()?;
    if !lines.is_empty() {
        screen.line(&lines.join("\n"));
    }
    output.finish()
}

impl Screen {
    /// Queues a line.
    pub(crate) fn line(&self, line: &str) -> OutputState {
        self.text(format!("{line}\n"))
    }

    /// Queues text as it is.
    pub(crate) fn text(&self, text: String) -> OutputState {
        match self.queue.try_send(OutputItem::Text(text)) {
            Ok(()) => OutputState::Open,
            Err(TrySendError::Disconnected(_)) => OutputState::Closed,
            Err(TrySendError::Full(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                OutputState::Open
            }
        }
    }

    /// Returns whether the reader of standard output is still there.
    pub(crate) fn output_state(&self) -> OutputState {
        self.text(String::new())
    }

    /// Begins a dialog: output of other handles waits until all clones of the returned one are
    /// dropped.
    pub(crate) fn begin_dialog(&self) -> Screen {
        let (queue, items) = sync_channel(QUEUE_LENGTH);
        let dropped = self.dropped.clone();
        match self.queue.try_send(OutputItem::Dialog(items)) {
            Ok(()) => Screen { queue, dropped },
            // Mixed with other output is better than not shown at all.
            Err(_) => self.clone(),
        }
    }
}

impl OutputThread {
    /// Waits until everything is written.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let _closed = self.screen.queue.send(OutputItem::End);
        let written = match self.thread.join() {
            Ok(written) => written,
            Err(_) => anyhow::bail!("the output thread failed; run the command again"),
        };
        match self.screen.dropped.load(Ordering::Relaxed) {
            0 => {}
            1 => anstream::eprintln!("warning: 1 line was dropped: the output is too slow"),
            many => {
                anstream::eprintln!("warning: {many} lines were dropped: the output is too slow")
            }
        }
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(error).context("the output could not be written; redirect it to a file")
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn write(items: &Receiver<OutputItem>, out: &mut impl Write) -> std::io::Result<()> {
    for item in items {
        match item {
            OutputItem::Text(text) => {
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            OutputItem::Dialog(dialog) => write(&dialog, out)?,
            OutputItem::End => break,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_during_a_dialog_comes_after_it() {
        let (queue, items) = sync_channel(QUEUE_LENGTH);
        let dropped = Arc::default();
        let screen = Screen { queue, dropped };
        screen.line("before");
        let dialog = screen.begin_dialog();
        dialog.line("yes or no?");
        screen.line("meanwhile");
        dialog.line("please type one of them");
        drop((dialog, screen));
        let mut out = Vec::new();
        write(&items, &mut out).expect("memory");
        let expected = "before\nyes or no?\nplease type one of them\nmeanwhile\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
