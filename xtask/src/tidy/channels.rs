//! The rule that every queue has a bound, so that a stalled peer stops work instead of filling memory.
//! It does not judge whether a bound is a good one.

use super::code::{Word, bracketed, words};
use super::file::{Fault, File};

/// Names under which libraries offer channels without a bound.
const UNBOUNDED: [&str; 4] = [
    "unbounded",
    "unbounded_channel",
    "UnboundedReceiver",
    "UnboundedSender",
];

/// No channel without a bound, in any library's spelling.
pub(crate) fn channels(file: &File) -> Vec<Fault> {
    let found = words(&file.code)
        .filter(|word| UNBOUNDED.contains(&word.text) || is_std_channel(&file.code, *word));
    let advice = "give the channel a bound (`mpsc::channel(n)`, or `sync_channel(n)` of std)";
    found.map(|word| Fault::new(word.line, advice)).collect()
}

/// `channel()` without a size: the one of std, unless another module is named (`oneshot::channel()`).
fn is_std_channel(code: &str, word: Word<'_>) -> bool {
    word.text == "channel"
        && could_be_std(&code[..word.start])
        && is_called_empty(&code[word.end()..])
}

fn could_be_std(before: &str) -> bool {
    match before.strip_suffix("::") {
        Some(path) => path.ends_with("mpsc"),
        None => !before.ends_with('.') && !before.ends_with("fn "),
    }
}

/// Whether an empty list of arguments follows, perhaps after type arguments.
fn is_called_empty(after: &str) -> bool {
    let types = after.strip_prefix("::").and_then(bracketed);
    let call = types.map_or(after, |types| &after["::<>".len() + types.len()..]);
    bracketed(call).is_some_and(|args| call.starts_with('(') && args.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn channels_without_a_bound_are_found() {
        let bad = "\
            let a = tokio::sync::mpsc::unbounded_channel();\n\
            let b = futures::channel::mpsc::unbounded::<u8>();\n\
            let c: UnboundedSender<u8>;\n\
            let d = unbounded();";
        assert_eq!(lines(channels, "a.rs", bad), [1, 2, 3, 4]);
    }

    #[test]
    fn the_channel_of_std_is_found() {
        let bad = "let a = std::sync::mpsc::channel();\nlet b = mpsc::channel::<Vec<u8>>();\nlet c = channel();";
        assert_eq!(lines(channels, "a.rs", bad), [1, 2, 3]);
    }

    #[test]
    fn channels_with_a_bound_pass() {
        let good = "\
            // unbounded_channel()\n\
            let a = mpsc::channel(64);\n\
            let b = oneshot::channel::<u8>();\n\
            let c = mpsc::channel::<u8>(1);\n\
            let d = self.channel();\n\
            fn channel() {}\n\
            let e = mpsc::channel(\"\");\n\
            let f = Bound::Unbounded;";
        assert_eq!(lines(channels, "a.rs", good), []);
    }
}
