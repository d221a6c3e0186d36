//! Skips a wrapper's options to find where the wrapped command begins.
//! An option that is not listed is an ambiguity: it may take the next word, or run something.

use super::table::Wrapper;

/// Where the wrapped command begins.
pub(super) struct CommandStart {
    /// The index of its first word.
    pub(super) from: usize,
    pub(super) ambiguity: Option<String>,
}

/// Finds the wrapped command after the wrapper's options, operands and assignments.
pub(super) fn command_start(wrapper: &Wrapper, arguments: &[String]) -> CommandStart {
    let mut start = CommandStart {
        from: 0,
        ambiguity: None,
    };
    while let Some(argument) = arguments.get(start.from) {
        match argument.as_str() {
            "--" => {
                start.from += 1;
                break;
            }
            option if option.starts_with('-') => start.skip_option(wrapper, option),
            _ => break,
        }
    }
    start.from += wrapper.operands;
    start.skip_assignments(wrapper, arguments);
    start
}

impl CommandStart {
    fn skip_option(&mut self, wrapper: &Wrapper, option: &str) {
        let length = if option.starts_with("--") {
            long(wrapper, option)
        } else {
            short(wrapper, &option[1..])
        };
        let unknown = || format!("the option `{option}` of `{}`", wrapper.name);
        if length.is_none() {
            self.ambiguity.get_or_insert_with(unknown);
        }
        self.from += length.unwrap_or(1);
    }

    /// Skips `NAME=value` words. They change what a program does, so they are an ambiguity.
    fn skip_assignments(&mut self, wrapper: &Wrapper, arguments: &[String]) {
        while let Some(argument) = arguments.get(self.from) {
            let Some((variable, _)) = argument.split_once('=').filter(|_| wrapper.sets_variables)
            else {
                return;
            };
            let why = || format!("`{}` sets `{variable}`", wrapper.name);
            self.ambiguity.get_or_insert_with(why);
            self.from += 1;
        }
    }
}

/// Returns how many words a long option takes, if it is known.
fn long(wrapper: &Wrapper, option: &str) -> Option<usize> {
    let (name, value) = match option.split_once('=') {
        Some((name, _)) => (name, Some(())),
        None => (option, None),
    };
    match (wrapper.long_valued.contains(&name), value) {
        (true, Some(())) => Some(1),
        (true, None) => Some(2),
        (false, Some(())) => None,
        (false, None) => wrapper.long_flags.contains(&name).then_some(1),
    }
}

/// Returns how many words a cluster of short options takes, if all of them are known.
fn short(wrapper: &Wrapper, letters: &str) -> Option<usize> {
    for (at, letter) in letters.char_indices() {
        if wrapper.valued.contains(letter) {
            let has_value = at + letter.len_utf8() < letters.len();
            return Some(if has_value { 1 } else { 2 });
        }
        if !wrapper.flags.contains(letter) {
            return None;
        }
    }
    (!letters.is_empty()).then_some(1)
}
