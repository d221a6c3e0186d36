//! Words written so that [`crate::read`] and every shell read them as they are.
//! It quotes whatever is not plainly safe and never uses a backslash.

/// The words as one line; a word with a quote in it is written in pieces.
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-./,:+@".contains(c);
    match !word.is_empty() && word.chars().all(is_safe) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r#"'"'"'"#)),
    }
}
