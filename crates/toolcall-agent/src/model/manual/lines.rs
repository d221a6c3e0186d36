//! Reads a prompt line by line; text that belongs to a line may continue below it.
//! It knows fenced blocks and changed lines, not what they are for.

/// The rest of a prompt.
pub(super) struct PromptLines<'a> {
    text: &'a str,
    /// The start of the last line that was taken.
    line: usize,
    /// The start of the next line.
    next: usize,
}

impl<'a> PromptLines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            line: 0,
            next: 0,
        }
    }

    /// Returns the text before the last line that was taken.
    pub(super) fn before(&self) -> &'a str {
        &self.text[..self.line]
    }

    /// Takes the next line, without its line break.
    pub(super) fn take(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        (self.line, self.next) = (self.next, self.next + length);
        Some(without_break(&rest[..length]))
    }

    /// Returns everything from the start of the last line that was taken.
    pub(super) fn since_line(&self) -> &'a str {
        &self.text[self.line..]
    }

    /// Takes so many bytes of [`PromptLines::since_line`], and gives what is left of the line they end in.
    pub(super) fn take_bytes(&mut self, bytes: usize) -> &'a str {
        self.next = self.line + bytes;
        self.take().unwrap_or_default()
    }

    /// Takes the text below: a fenced block, or everything to the end. Nothing if that is blank.
    pub(super) fn take_text(&mut self) -> Option<String> {
        let rest = self.rest();
        if rest.trim().is_empty() {
            self.next = self.text.len();
            return None;
        }
        let blank = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
        match fence(rest[blank..].lines().next().unwrap_or_default()) {
            Some(fence) => {
                self.next += blank;
                Some(self.take_fenced(fence))
            }
            None => {
                self.next = self.text.len();
                Some(ended(rest))
            }
        }
    }

    /// Takes lines that begin with `-` or `+`, as pairs of old and new text.
    pub(super) fn take_changes(&mut self) -> Vec<LineChange<'a>> {
        let mut changes: Vec<LineChange<'a>> = Vec::new();
        while let Some(line) = self.peek() {
            match (sign(line), changes.last_mut()) {
                (Some(('-', old)), Some(change)) if change.new.is_empty() => change.old.push(old),
                (Some(('-', old)), _) => changes.push(LineChange::from_old(old)),
                (Some((_, new)), Some(change)) => change.new.push(new),
                (Some((_, new)), None) => changes.push(LineChange::from_new(new)),
                (None, _) => break,
            }
            self.take();
        }
        changes
    }

    fn take_fenced(&mut self, fence: usize) -> String {
        self.take();
        let from = self.next;
        loop {
            let end = self.next;
            match self.take() {
                Some(line) if is_closing(line, fence) => return self.text[from..end].to_owned(),
                Some(_) => {}
                None => return ended(&self.text[from..]),
            }
        }
    }

    fn peek(&self) -> Option<&'a str> {
        let line = self.rest().split_inclusive('\n').next()?;
        Some(without_break(line))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.next..]
    }
}

/// PromptLines that go, and lines that come instead.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LineChange<'a> {
    pub(super) old: Vec<&'a str>,
    pub(super) new: Vec<&'a str>,
}

impl<'a> LineChange<'a> {
    fn from_old(line: &'a str) -> Self {
        Self {
            old: vec![line],
            new: Vec::new(),
        }
    }

    fn from_new(line: &'a str) -> Self {
        Self {
            old: Vec::new(),
            new: vec![line],
        }
    }
}

/// Returns the text with a line break at its end.
pub(super) fn ended(text: &str) -> String {
    if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

/// What stands behind the sign that a line begins with. An empty line may have lost its space.
fn sign(line: &str) -> Option<(char, &str)> {
    let sign = line.chars().next().filter(|c| matches!(c, '-' | '+'))?;
    match &line[1..] {
        "" => Some((sign, "")),
        rest => Some((sign, rest.strip_prefix(' ')?)),
    }
}

/// Returns how many backticks open a fenced block here.
fn fence(line: &str) -> Option<usize> {
    let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
    (ticks >= 3 && !line[ticks..].contains('`')).then_some(ticks)
}

fn is_closing(line: &str, fence: usize) -> bool {
    let line = line.trim_end();
    line.len() >= fence && line.bytes().all(|byte| byte == b'`')
}

fn without_break(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_one_by_one() {
        let mut lines = PromptLines::new("a\r\n\nb");
        let mut all = Vec::new();
        while let Some(line) = lines.take() {
            all.push((lines.before().len(), line));
        }
        assert_eq!(all, [(0, "a"), (3, ""), (4, "b")]);
    }

    #[test]
    fn a_text_goes_to_the_end_or_to_its_fence() {
        let check = |text| {
            let mut lines = PromptLines::new(text);
            lines.take();
            (lines.take_text(), lines.take())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(check("write a\n\n b\nc"), (some("\n b\nc\n"), None));
        assert_eq!(check("write a\n```rs\nb\n```\nc"), (some("b\n"), Some("c")));
        assert_eq!(check("write a\n\n````\n```\n````\n"), (some("```\n"), None));
        assert_eq!(check("write a\n```\nb"), (some("b\n"), None));
        assert_eq!(check("write a\n```\n```\n"), (some(""), None));
        assert_eq!(check("write a\n \n"), (None, None));
    }

    #[test]
    fn changes_are_old_lines_and_new_ones() {
        let mut lines = PromptLines::new("- a\n-\n+ b\n- c\n+ d\n+\nlist");
        let change = |old: &[&'static str], new: &[&'static str]| LineChange {
            old: old.to_vec(),
            new: new.to_vec(),
        };
        assert_eq!(
            lines.take_changes(),
            [change(&["a", ""], &["b"]), change(&["c"], &["d", ""])]
        );
        assert_eq!(lines.take(), Some("list"));
        assert_eq!(
            PromptLines::new("+ a").take_changes(),
            [change(&[], &["a"])]
        );
        assert_eq!(PromptLines::new("-a").take_changes(), []);
    }
}
