//! What a background command printed: all of it, and what nobody has seen, each within a budget.
//! What does not fit is kept in a spill, and nothing else is held.

use std::sync::Arc;

use toolcall::{CallId, Output};

use super::{JobOutput, JobStatus};
use crate::local::Spills;

/// Where long output is kept, and under which call.
pub(super) type Place = (Arc<Spills>, CallId);

/// The output of one background command.
#[derive(Debug)]
pub(super) struct Printed {
    all: Output,
    unseen: Output,
    /// The beginning of a character whose end has not come. It is not shown before.
    begun: Vec<u8>,
    place: Option<Place>,
}

impl Printed {
    pub(super) fn new(place: Option<Place>) -> Self {
        Self {
            all: Output::default(),
            unseen: Output::default(),
            begun: Vec::new(),
            place,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.all.has_room_for(bytes.len()) {
            self.keep(bytes);
        }
        self.all.push(bytes);
        self.begun.extend_from_slice(bytes);
        let whole = self.begun.len() - cut_at_the_end(&self.begun);
        self.unseen.push(&self.begun[..whole]);
        self.begun.drain(..whole);
    }

    /// The first time, what was held so far is kept, too. Once something could not be kept, what
    /// follows would have a hole before it.
    fn keep(&mut self, bytes: &[u8]) {
        let Some((spills, call)) = &self.place else {
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
            Err(_) => self.place = None,
        }
    }

    pub(super) fn so_far(&self, status: JobStatus) -> JobOutput {
        self.show(&self.all, status)
    }

    /// What was not asked for yet, which is seen now.
    pub(super) fn unseen(&mut self, status: JobStatus) -> JobOutput {
        if status != JobStatus::Running {
            self.unseen.push(&std::mem::take(&mut self.begun));
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

/// How many bytes at the end begin a character that is not complete.
fn cut_at_the_end(bytes: &[u8]) -> usize {
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
        let mut printed = Printed::new(None);
        let mut seen = Vec::new();
        for byte in "a€🦀é".bytes() {
            printed.push(&[byte]);
            seen.push(printed.unseen(JobStatus::Running).text);
        }
        assert_eq!(seen.join("|"), "a|||€||||🦀||é");
    }

    #[test]
    fn half_a_character_is_shown_at_the_end() {
        let mut printed = Printed::new(None);
        printed.push(b"a\xe2\x82");
        assert_eq!(printed.unseen(JobStatus::Running).text, "a");
        let ended = JobStatus::Ended(toolcall::Exit::Code(0));
        assert_eq!(printed.unseen(ended).text, "\u{fffd}");
        printed.push(b"\xff\x80\x80\x80\x80");
        let last = printed.unseen(JobStatus::Running);
        assert_eq!(last.bytes, 5, "what is no beginning is not held back");
    }

    #[test]
    fn what_was_not_looked_at_in_time_is_counted() {
        let mut printed = Printed::new(None);
        let budget = Output::default().budget().total();
        printed.push(&vec![b'x'; budget + 1000]);
        let seen = printed.unseen(JobStatus::Running);
        assert_eq!((seen.bytes, seen.skipped), (budget as u64 + 1000, 1000));
        assert!(seen.text.contains("… 1000 bytes left out …"));
        assert_eq!(printed.unseen(JobStatus::Running).bytes, 0);
        assert_eq!(printed.so_far(JobStatus::Running).skipped, 1000);
    }
}
