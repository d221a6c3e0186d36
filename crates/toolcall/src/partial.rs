//! Parses JSON that is still being written.
//! It guesses nothing: it closes open brackets and leaves out incomplete values.

use serde_json::Value;

/// Parses the beginning of a JSON text. Returns `None` if there is no value yet.
pub(crate) fn read(text: &str) -> Option<Value> {
    if let Ok(whole) = serde_json::from_str(text) {
        return Some(whole);
    }
    let cut = PartialJson::of(text);
    cut.candidates(text)
        .find_map(|candidate| serde_json::from_str(&candidate).ok())
}

/// A scanned prefix of JSON: what is open, and where it can be cut so that closing brackets make it
/// valid.
#[derive(Default)]
struct PartialJson {
    /// The closing brackets that are missing.
    open: Vec<char>,
    in_string: bool,
    escaped: bool,
    /// The offset after the last bracket or before the last comma. Nothing was opened or closed
    /// since.
    cut_at: usize,
}

impl PartialJson {
    fn of(text: &str) -> Self {
        let mut cut = Self::default();
        for (offset, character) in text.char_indices() {
            cut.step(offset, character);
        }
        cut
    }

    fn step(&mut self, offset: usize, character: char) {
        match (self.in_string, self.escaped, character) {
            (true, true, _) => self.escaped = false,
            (true, false, '\\') => self.escaped = true,
            (true, false, '"') => self.in_string = false,
            (true, false, _) => {}
            (false, _, '"') => self.in_string = true,
            (false, _, '{' | '[' | '}' | ']') => self.bracket(offset, character),
            (false, _, ',') => self.cut_at = offset,
            (false, _, _) => {}
        }
    }

    fn bracket(&mut self, offset: usize, character: char) {
        match character {
            '{' => self.open.push('}'),
            '[' => self.open.push(']'),
            _ => drop(self.open.pop()),
        }
        self.cut_at = offset + 1;
    }

    /// Returns candidates, best first: an open string is closed where it ends; otherwise the
    /// incomplete member is left out.
    fn candidates(&self, text: &str) -> impl Iterator<Item = String> + use<> {
        let quote = if self.in_string { "\"" } else { "" };
        let as_is = close(
            &format!("{}{quote}", without_half_escape(text, self.in_string)),
            &self.open,
        );
        let without_last = close(&text[..self.cut_at], &self.open);
        [as_is, without_last].into_iter()
    }
}

/// Removes an incomplete escape such as `\` or `\u12` from the end.
fn without_half_escape(text: &str, in_string: bool) -> &str {
    if !in_string {
        return text;
    }
    let from = text.len().saturating_sub(12);
    let from = (from..=text.len())
        .find(|offset| text.is_char_boundary(*offset))
        .unwrap_or(0);
    match text[from..].rfind('\\') {
        Some(offset) => &text[..from + offset],
        None => text,
    }
}

fn close(text: &str, open: &[char]) -> String {
    let mut closed = text
        .trim_end_matches([',', ' ', '\n', '\t', '\r'])
        .to_owned();
    closed.extend(open.iter().rev());
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_what_is_there() {
        for (text, value) in [
            (r#"{"#, json!({})),
            (r#"{"pa"#, json!({})),
            (r#"{"path""#, json!({})),
            (r#"{"path":"src/ma"#, json!({"path": "src/ma"})),
            (r#"{"path":"a","line":1"#, json!({"path": "a", "line": 1})),
            (r#"{"path":"a","all":tr"#, json!({"path": "a"})),
            (r#"{"path":"a\"#, json!({"path": "a"})),
            (r#"{"path":"a\u00"#, json!({"path": "a"})),
            (
                r#"{"edits":[{"old":"x","new":"y"#,
                json!({"edits": [{"old": "x", "new": "y"}]}),
            ),
            (
                r#"{"edits":[{"old":"x"},"#,
                json!({"edits": [{"old": "x"}]}),
            ),
        ] {
            assert_eq!(read(text), Some(value), "{text}");
        }
        assert_eq!(read(""), None);
        assert_eq!(read("nonsense"), None);
    }

    #[test]
    fn every_prefix_of_an_object_is_an_object() {
        let text =
            r#"{"path":"gr\u00fcn \"x\" 🦀","list":[1,2.5,{"a":null}],"deep":{"b":[true,false]}}"#;
        for end in (1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let read = read(&text[..end]);
            assert!(
                read.as_ref().is_some_and(Value::is_object),
                "{}",
                &text[..end]
            );
        }
    }
}
