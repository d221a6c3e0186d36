//! Splits a line into words, some of them quoted.
//! A quote that is not closed is an apostrophe.

/// A word and where it stands in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes.
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether quotes were taken away.
    pub(super) quotes: Quotes,
}

/// Whether a word was quoted, at least in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Some,
}

impl Word {
    /// Returns whether it is this word, unquoted.
    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.quotes == Quotes::None && self.text.eq_ignore_ascii_case(text)
    }
}

/// All words of a line.
pub(super) fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(word) = word_from(line, at) {
        at = word.end;
        words.push(word);
    }
    words
}

/// The first word of a line, if there is one.
pub(super) fn first_word(line: &str) -> Option<Word> {
    word_from(line, 0)
}

/// A text without the quotes around it, or as it is if they are not around all of it.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    match quoted(text) {
        Some(inside) if inside.len() + 2 == text.len() => inside,
        Some(_) | None => text,
    }
}

/// A quote opens where a word or a value begins, and right behind another one.
fn word_from(line: &str, from: usize) -> Option<Word> {
    let start = from + line[from..].find(|c: char| !c.is_whitespace())?;
    let mut word = Word {
        text: String::new(),
        start,
        end: start,
        quotes: Quotes::None,
    };
    let mut may_open = true;
    while let Some(c) = line[word.end..].chars().next() {
        match quoted(&line[word.end..]).filter(|_| may_open) {
            Some(inside) => {
                word.text.push_str(inside);
                word.end += inside.len() + 2;
                word.quotes = Quotes::Some;
            }
            None if c.is_whitespace() => break,
            None => {
                word.text.push(c);
                word.end += c.len_utf8();
                may_open = c == '=';
            }
        }
    }
    Some(word)
}

/// What is between the quote that the text begins with and the next one.
pub(super) fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inside = &text[1..];
    inside.find(quote).map(|end| &inside[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> Vec<String> {
        words(line).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(check(r#" a  'b c' "d 'e'" "#), ["a", "b c", "d 'e'"]);
        assert_eq!(check(r#"k="a b" j='{"x": 1}'"#), ["k=a b", r#"j={"x": 1}"#]);
        assert_eq!(check(r#"'a'"'"'b' """#), ["a'b", ""]);
        assert_eq!(check(r#"l=["a","b"]"#), [r#"l=["a","b"]"#]);
    }

    #[test]
    fn a_quote_that_nothing_closes_is_a_letter() {
        assert_eq!(check("it's 'so"), ["it's", "'so"]);
        assert_eq!(check("what's it's"), ["what's", "it's"]);
    }

    #[test]
    fn only_quotes_around_the_whole_text_go() {
        assert_eq!(unquoted(r#" "a b" "#), "a b");
        assert_eq!(unquoted(r#""a" and "b""#), r#""a" and "b""#);
        assert_eq!(unquoted("'"), "'");
    }
}
