//! Encodes the output of a command: as text in a code fence, or in chunks for a terminal.
//! It never cuts a character or an escape sequence.

use toolcall::text::clean_block;
use toolcall::{Output, OutputBudget, Printed};

/// How much output a running call shows as text. An ended call shows all that is held.
const WHILE_RUNNING: OutputBudget = OutputBudget {
    head: 4 * 1024,
    tail: 12 * 1024,
};

/// Whether more output may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputStage {
    Running,
    Ended,
}

/// A longer sequence is not treated as an escape sequence.
const MAX_ESCAPE_LENGTH: usize = 4 * 1024;

/// Returns the output as text in a code fence that it cannot break out of.
pub(crate) fn as_text(output: &Output, stage: OutputStage) -> String {
    let text = match stage {
        OutputStage::Running if output.total() > WHILE_RUNNING.total() as u64 => ends(output),
        OutputStage::Running | OutputStage::Ended => plain(&output.text()),
    };
    fenced(&text, "")
}

/// Returns the head and the tail, with a line between them that says how much is left out.
fn ends(output: &Output) -> String {
    let total = output.total();
    let head = output.range(Printed {
        from: 0,
        to: WHILE_RUNNING.head as u64,
    });
    let tail = output.range(Printed {
        from: total - WHILE_RUNNING.tail as u64,
        to: total,
    });
    let (head, tail) = (&head[..safe_end(&head)], &tail[line_start(&tail)..]);
    let missing = total - (head.len() + tail.len()) as u64;
    let [head, tail] = [head, tail].map(|bytes| plain(&String::from_utf8_lossy(bytes)));
    format!("{head}\n… {missing} bytes left out …\n{tail}")
}

/// Wraps text in a code fence that is longer than any fence inside it.
pub(crate) fn fenced(text: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

fn longest_run_of_backticks(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or_default()
}

/// Removes colours and hidden characters, and what a carriage return overwrites.
fn plain(text: &str) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    let lines = text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.rsplit('\r').next().unwrap_or_default()
    });
    clean_block(&lines.collect::<Vec<_>>().join("\n"))
}

/// A part of the output for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) text: String,
    /// The end of the chunk in the output, in bytes.
    pub(crate) to: u64,
}

/// Returns the output since `from`; while the call runs, up to a place where it can be cut.
pub(crate) fn chunk(output: &Output, from: u64, stage: OutputStage) -> Option<Chunk> {
    let mut bytes = since(output, from);
    let held_back = match stage {
        OutputStage::Ended => 0,
        OutputStage::Running => bytes.len() - safe_end(&bytes),
    };
    bytes.truncate(bytes.len() - held_back);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let to = output.total() - held_back as u64;
    (!text.is_empty()).then_some(Chunk { text, to })
}

/// Returns the output that is held from there on, with a line in place of the bytes that are not.
fn since(output: &Output, from: u64) -> Vec<u8> {
    let [head, front, back] = output.pieces();
    let (head_to, total) = (head.len() as u64, output.total());
    let tail_from = total - (front.len() + back.len()) as u64;
    let missing = tail_from.saturating_sub(from.max(head_to));
    if missing == 0 {
        return output.range(Printed { from, to: total });
    }
    let tail = output.range(Printed {
        from: tail_from,
        to: total,
    });
    let cut = line_start(&tail);
    let missing = missing + cut as u64;
    let gap = format!("\x1b[0m\r\n… {missing} bytes left out …\r\n");
    let head = output.range(Printed { from, to: head_to });
    [&head, gap.as_bytes(), &tail[cut..]].concat()
}

/// Returns the start of the next line after a gap; in one endless line, of the next character.
fn line_start(bytes: &[u8]) -> usize {
    let near = &bytes[..bytes.len().min(MAX_ESCAPE_LENGTH)];
    match near.iter().position(|byte| *byte == b'\n') {
        Some(end) => end + 1,
        None => {
            let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
            near.iter().take(3).take_while(is_continuation).count()
        }
    }
}

/// Returns the end of what can be sent without cutting a character or an escape sequence.
fn safe_end(bytes: &[u8]) -> usize {
    let whole = whole_characters(bytes);
    let from = whole.saturating_sub(MAX_ESCAPE_LENGTH);
    let escape = bytes[from..whole].iter().rposition(|byte| *byte == 0x1b);
    let Some(start) = escape.map(|at| from + at) else {
        return whole;
    };
    // The terminator of a string (escape and backslash) is an escape itself: look at the one that began the string.
    let opened = bytes[from..start].iter().rposition(|byte| *byte == 0x1b);
    let opened = opened.map(|at| from + at);
    if is_complete_escape(&bytes[start..whole]) {
        return whole;
    }
    match opened.filter(|at| !is_complete_escape(&bytes[*at..whole])) {
        Some(earlier) => earlier,
        None => start,
    }
}

fn whole_characters(bytes: &[u8]) -> usize {
    let last = bytes.len().saturating_sub(3);
    let start = (last..bytes.len()).find(|at| bytes[*at] & 0b1100_0000 == 0b1100_0000);
    let Some(start) = start else {
        return bytes.len();
    };
    match std::str::from_utf8(&bytes[start..]) {
        Err(cut) if cut.error_len().is_none() => start + cut.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

/// Whether an escape sequence is complete.
fn is_complete_escape(bytes: &[u8]) -> bool {
    match bytes.get(1) {
        None => false,
        Some(b'[') => bytes[2..].iter().any(|byte| (0x40..=0x7e).contains(byte)),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let ends = |pair: &[u8]| pair == b"\x1b\\";
            bytes.contains(&0x07) || bytes[1..].windows(2).any(ends)
        }
        Some(_) => bytes[1..].iter().any(|byte| (0x30..=0x7e).contains(byte)),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn output(budget: OutputBudget, bytes: &[u8]) -> Output {
        let mut output = Output::new(budget);
        output.push(bytes);
        output
    }

    fn check_text(bytes: &[u8], expected: Expect) {
        expected.assert_eq(&as_text(
            &output(OutputBudget::default(), bytes),
            OutputStage::Ended,
        ));
    }

    #[test]
    fn text_is_plain_and_stays_between_its_fences() {
        check_text(
            b"\x1b[31mred\x1b[0m\n10 %\r100 %\r\n",
            expect![[r#"
                ```
                red
                100 %
                ```"#]],
        );
        check_text(
            b"````\nbreak out",
            expect![[r#"
                `````
                ````
                break out
                `````"#]],
        );
        check_text(
            "a\u{202e}b".as_bytes(),
            expect![[r#"
                ```
                a\u{202e}b
                ```"#]],
        );
    }

    #[test]
    fn a_running_call_says_how_much_of_all_it_printed_is_left_out() {
        let mut output = Output::new(OutputBudget::default());
        for _ in 0..100_000 {
            output.push(b"0123456\n");
        }
        let text = as_text(&output, OutputStage::Running);
        let gap = text.lines().find(|line| line.contains("left out"));
        assert_eq!(gap, Some("… 783624 bytes left out …"));
    }

    fn check_end(bytes: &[u8], safe: &[u8]) {
        assert_eq!(&bytes[..safe_end(bytes)], safe);
    }

    #[test]
    fn chunks_end_between_characters_and_escapes() {
        check_end(b"plain", b"plain");
        check_end("grün".as_bytes(), "grün".as_bytes());
        check_end(b"gr\xc3", b"gr");
        check_end("🦀".as_bytes(), "🦀".as_bytes());
        check_end(&"x🦀".as_bytes()[..4], b"x");
        check_end(b"a\x1b", b"a");
        check_end(b"a\x1b[3", b"a");
        check_end(b"a\x1b[31m", b"a\x1b[31m");
        check_end(b"a\x1b]0;title", b"a");
        check_end(b"a\x1b]0;title\x1b", b"a");
        check_end(b"a\x1b]0;title\x1b\\", b"a\x1b]0;title\x1b\\");
        check_end(b"a\x1b]0;title\x07", b"a\x1b]0;title\x07");
        check_end(b"a\x1b(B", b"a\x1b(B");
        check_end(b"a\x1b(", b"a");
        check_end(b"\xff\xfe", b"\xff\xfe");
    }

    #[test]
    fn what_is_no_escape_is_not_held_back_for_ever() {
        let endless = [b"\x1b]".as_slice(), &[b'x'; MAX_ESCAPE_LENGTH]].concat();
        assert_eq!(safe_end(&endless), endless.len());
    }

    #[test]
    fn chunks_put_together_are_the_output() {
        let budget = OutputBudget::default();
        let all = "grün \x1b[32m🦀\x1b[0m\n".repeat(40);
        let mut output = Output::new(budget);
        let (mut sent, mut to) = (String::new(), 0);
        for byte in all.bytes() {
            output.push(&[byte]);
            if let Some(chunk) = chunk(&output, to, OutputStage::Running) {
                sent.push_str(&chunk.text);
                to = chunk.to;
            }
        }
        assert_eq!(sent, all);
        assert_eq!(chunk(&output, to, OutputStage::Ended), None);
    }

    #[test]
    fn a_gap_is_marked_and_the_next_line_follows() {
        let small = OutputBudget { head: 4, tail: 12 };
        let output = output(small, b"0123456789\nabc\ndef\n");
        let chunk = chunk(&output, 0, OutputStage::Ended).expect("a chunk");
        expect![[r#""0123\u{1b}[0m\r\n… 7 bytes left out …\r\nabc\ndef\n""#]]
            .assert_eq(&format!("{:?}", chunk.text));
        assert_eq!(chunk.to, output.total());
    }
}
