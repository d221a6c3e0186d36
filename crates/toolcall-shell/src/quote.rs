//! Quotes words so that [`crate::read`] and every shell read them back unchanged.
//! It quotes whatever is not plainly safe and never uses a backslash.

/// Returns the words as one command line, quoted where needed.
///
/// ```
/// assert_eq!(toolcall_shell::quoted(["echo", "it's", "a b"]), r#"echo 'it'"'"'s' 'a b'"#);
/// ```
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-./,:+@".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r#"'"'"'"#))
    }
}
