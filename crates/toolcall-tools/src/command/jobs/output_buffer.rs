//! The output of a background command: all of it, and what was not read yet, each within a budget.
//! What does not fit goes to a spill; it holds nothing else.

use std::sync::Arc;

use toolcall::{CallId, Output};

use super::{JobOutput, JobStatus};
use crate::local::Spills;

/// Where long output is stored, and under which call.
pub(super) type SpillTarget = (Arc<Spills>, CallId);

/// The output of one background command.
#[derive(Debug)]
pub(super) struct OutputBuffer {
    all: Output,
    unseen: Output,
    /// The first bytes of a character that is not complete yet, and not returned before it is.
    incomplete: Vec<u8>,
    spill_target: Option<SpillTarget>,
}

impl OutputBuffer {
    pub(super) fn new(spill_target: Option<SpillTarget>) -> Self {
        Self {
            all: Output::default(),
            unseen: Output::default(),
            incomplete: Vec::new(),
            spill_target,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.all.has_room_for(bytes.len()) {
            self.keep(bytes);
        }
        self.all.push(bytes);
        self.incomplete.extend_from_slice(bytes);
        let whole = self.incomplete.len() - incomplete_suffix(&self.incomplete);
        self.unseen.push(&self.incomplete[..whole]);
        self.incomplete.drain(..whole);
    }

    /// Appends to the spill; the first time, with everything printed so far. After a failure nothing
    /// more is stored, because the file would have a hole.
    fn keep(&mut self, bytes: &[u8]) {
        let Some((spills, call)) = &self.spill_target else {
            return;
        };
        let kept = match self.all.spill() {
            Some(_) => spills.keep(call, bytes),
            None => {
                let [head, front, back] = self.all.pieces();
                spills.keep(call, &[head, front, back, bytes].concat())
            }
        };
        match kept {
            Ok(spill) => self.all.set_spill(spill),
            Err(_) => self.spill_target = None,
        }
    }

    pub(super) fn all_output(&self, status: JobStatus) -> JobOutput {
        self.show(&self.all, status)
    }

    /// Returns the output that was not returned before.
    pub(super) fn take_unseen(&mut self, status: JobStatus) -> JobOutput {
        if status != JobStatus::Running {
            self.unseen.push(&std::mem::take(&mut self.incomplete));
        }
        let seen = std::mem::take(&mut self.unseen);
        self.show(&seen, status)
    }

    fn show(&self, output: &Output, status: JobStatus) -> JobOutput {
        JobOutput {
            text: output.text(),
            bytes: output.total(),
            skipped: output.omitted(),
            spill: self.all.spill().cloned(),
            status,
        }
    }
}

/// Returns how many bytes at the end belong to a character that is not complete.
fn incomplete_suffix(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3).enumerate();
    for (back, byte) in last {
        let needed = match byte {
            0b1000_0000..=0b1011_1111 => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if needed > back + 1 { back + 1 } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_shown_when_it_is_complete() {
        let mut output_buffer = OutputBuffer::new(None);
        let mut seen = Vec::new();
        for byte in "a€🦀é".bytes() {
            output_buffer.push(&[byte]);
            seen.push(output_buffer.take_unseen(JobStatus::Running).text);
        }
        assert_eq!(seen.join("|"), "a|||€||||🦀||é");
    }

    #[test]
    fn half_a_character_is_shown_at_the_end() {
        let mut output_buffer = OutputBuffer::new(None);
        output_buffer.push(b"a\xe2\x82");
        assert_eq!(output_buffer.take_unseen(JobStatus::Running).text, "a");
        let ended = JobStatus::Ended(toolcall::Exit::Code(0));
        assert_eq!(output_buffer.take_unseen(ended).text, "\u{fffd}");
        output_buffer.push(b"\xff\x80\x80\x80\x80");
        let last = output_buffer.take_unseen(JobStatus::Running);
        assert_eq!(last.bytes, 5, "what is no beginning is not held back");
    }

    #[test]
    fn what_was_not_looked_at_in_time_is_counted() {
        let mut output_buffer = OutputBuffer::new(None);
        let budget = Output::default().budget().total();
        output_buffer.push(&vec![b'x'; budget + 1000]);
        let seen = output_buffer.take_unseen(JobStatus::Running);
        assert_eq!((seen.bytes, seen.skipped), (budget as u64 + 1000, 1000));
        assert!(seen.text.contains("… 1000 bytes left out …"));
        assert_eq!(output_buffer.take_unseen(JobStatus::Running).bytes, 0);
        assert_eq!(output_buffer.all_output(JobStatus::Running).skipped, 1000);
    }
}
