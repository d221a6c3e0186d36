//! What a call printed: its head, its tail, and where the whole is stored.
//! It never holds more bytes than its budget.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::Printed;

/// How many bytes of a call's output are held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputBudget {
    /// Bytes held from the beginning.
    pub head: usize,
    /// Bytes held from the end.
    pub tail: usize,
}

impl Default for OutputBudget {
    fn default() -> Self {
        Self {
            head: 16 * 1024,
            tail: 48 * 1024,
        }
    }
}

impl OutputBudget {
    /// Returns the sum of head and tail.
    pub fn total(&self) -> usize {
        self.head + self.tail
    }

    /// Reduces the budget by these bytes, first the tail.
    pub(crate) fn spend(&mut self, bytes: usize) {
        let from_head = bytes.saturating_sub(self.tail);
        self.tail = self.tail.saturating_sub(bytes);
        self.head = self.head.saturating_sub(from_head);
    }

    /// Returns the text cut to the budget, with a line that says how much is missing; `None` if it
    /// fits.
    pub fn fit(&self, text: &str) -> Option<String> {
        if text.len() <= self.total() {
            return None;
        }
        let mut output = Output::new(*self);
        output.push(text.as_bytes());
        Some(output.text())
    }
}

/// The output of a call, within a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    budget: OutputBudget,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    spill: Option<Spill>,
}

/// Where the whole output is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// The address, for a user or a tool to open.
    pub uri: Arc<str>,
    /// Bytes stored there.
    pub bytes: u64,
    /// Whether everything is stored, or only the beginning.
    pub completeness: Completeness,
}

impl Spill {
    /// Returns a short description.
    pub fn summary(&self) -> String {
        match self.completeness {
            Completeness::Whole => "the whole output".to_owned(),
            Completeness::Capped => {
                format!(
                    "the first {} bytes of the output; more was not kept",
                    self.bytes
                )
            }
        }
    }
}

/// Whether the stored output is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Everything so far.
    Whole,
    /// Only the beginning; the limit was reached.
    Capped,
}

impl Output {
    /// Creates an empty output with this budget.
    pub fn new(budget: OutputBudget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// Rebuilds an output from a store: its head, how many bytes are missing, its tail. The budget
    /// grows if the store holds more than it allows.
    pub fn restored(budget: OutputBudget, head: &[u8], omitted: u64, tail: &[u8]) -> Self {
        let cut = if omitted == 0 {
            budget.head
        } else {
            head.len()
        };
        let (first, rest) = head.split_at(cut.min(head.len()));
        let held_last = rest.len() + tail.len();
        Self {
            budget: OutputBudget {
                head: budget.head.max(first.len()),
                tail: budget.tail.max(held_last),
            },
            head: first.to_vec(),
            tail: rest.iter().chain(tail).copied().collect(),
            total: (first.len() + held_last) as u64 + omitted,
            spill: None,
        }
    }

    /// Returns the budget.
    pub fn budget(&self) -> OutputBudget {
        self.budget
    }

    /// Adds bytes. They need not end at a character boundary.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.budget.head - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.push_tail(rest);
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let fresh = &bytes[bytes.len().saturating_sub(self.budget.tail)..];
        let over = (self.tail.len() + fresh.len()).saturating_sub(self.budget.tail);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(fresh);
    }

    /// Sets where the whole output is stored.
    pub fn set_spill(&mut self, spill: Spill) {
        self.spill = Some(spill);
    }

    /// Returns where the whole output is stored, if it did not fit.
    pub fn spill(&self) -> Option<&Spill> {
        self.spill.as_ref()
    }

    /// Returns how many bytes were printed in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns how many bytes are not held.
    pub fn omitted(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Returns whether nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns whether this many more bytes fit without cutting.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.omitted() == 0 && self.head.len() + self.tail.len() + bytes <= self.budget.total()
    }

    /// Returns the bytes held, in order, in up to three slices.
    pub fn pieces(&self) -> [&[u8]; 3] {
        let (front, back) = self.tail.as_slices();
        [&self.head, front, back]
    }

    /// Returns the bytes still held of the range in a [`Printed`] event.
    pub fn range(&self, printed: Printed) -> Vec<u8> {
        let mut held = Vec::new();
        let tail_from = self.total - self.tail.len() as u64;
        let (front, back) = self.tail.as_slices();
        let back_from = tail_from + front.len() as u64;
        for (from, piece) in [(0, &self.head[..]), (tail_from, front), (back_from, back)] {
            let within = |at: u64| (at.saturating_sub(from) as usize).min(piece.len());
            let (start, end) = (within(printed.from), within(printed.to));
            held.extend_from_slice(&piece[start.min(end)..end]);
        }
        held
    }

    /// Returns the output as text, with a line in place of what is missing. Invalid UTF-8 is
    /// replaced.
    pub fn text(&self) -> String {
        let omitted = self.omitted();
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if omitted == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let head = whole_start(&self.head);
        let tail = whole_end(&tail);
        let missing = self.total - (head.len() + tail.len()) as u64;
        let unit = if missing == 1 { "byte" } else { "bytes" };
        format!(
            "{}\n… {missing} {unit} left out …\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        )
    }
}

/// Removes a character that was cut at the end.
fn whole_start(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(cut) if cut.error_len().is_none() => &bytes[..cut.valid_up_to()],
        Ok(_) | Err(_) => bytes,
    }
}

/// Removes a character that was cut at the beginning.
fn whole_end(bytes: &[u8]) -> &[u8] {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let skip = bytes.iter().take(3).take_while(is_continuation).count();
    &bytes[skip..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn small(head: usize, tail: usize) -> Output {
        Output::new(OutputBudget { head, tail })
    }

    #[test]
    fn keeps_all_that_fits() {
        let mut output = small(4, 4);
        output.push(b"abcdef");
        assert_eq!(output.text(), "abcdef");
        assert_eq!((output.total(), output.omitted()), (6, 0));
        assert!(output.has_room_for(2) && !output.has_room_for(3));
    }

    #[test]
    fn keeps_head_and_tail_of_the_rest() {
        let mut output = small(4, 4);
        for _ in 0..1000 {
            output.push(b"0123456789");
        }
        expect!["0123\n… 9992 bytes left out …\n6789"].assert_eq(&output.text());
        assert_eq!(output.pieces().concat(), b"01236789");
    }

    #[test]
    fn what_was_kept_is_restored() {
        for bytes in [&b"abc"[..], b"abcdef", b"0123456789"] {
            let mut output = small(4, 4);
            output.push(bytes);
            let [head, front, back] = output.pieces();
            let restored = match output.omitted() {
                0 => Output::restored(output.budget(), &[head, front, back].concat(), 0, &[]),
                omitted => {
                    let tail = [front, back].concat();
                    Output::restored(output.budget(), head, omitted, &tail)
                }
            };
            assert_eq!(restored, output);
        }
    }

    #[test]
    fn a_range_is_what_is_still_held_of_it() {
        let mut output = small(4, 4);
        output.push(b"0123456789");
        let range = |from, to| output.range(Printed { from, to });
        assert_eq!(range(1, 3), b"12");
        assert_eq!(range(2, 8), b"2367");
        assert_eq!(range(4, 6), b"");
        assert_eq!(range(8, 99), b"89");
        assert_eq!(range(9, 8), b"");
    }

    #[test]
    fn never_shows_half_a_character() {
        let mut output = small(5, 5);
        output.push("ääääääääää".as_bytes());
        expect!["ää\n… 12 bytes left out …\nää"].assert_eq(&output.text());
    }

    #[test]
    fn characters_split_over_pushes_are_whole() {
        let mut output = small(64, 64);
        for byte in "grün 🦀".bytes() {
            output.push(&[byte]);
        }
        assert_eq!(output.text(), "grün 🦀");
    }
}
