//! The options before a wrapped command, skipped by the wrapper's own rules.
//! An option that is not on its list is a doubt: it may take the next word, or run something.

use super::table::Wrapper;

/// Where the wrapped command begins.
pub(super) struct Rest {
    /// The index of its first word.
    pub(super) from: usize,
    pub(super) doubt: Option<String>,
}

/// Finds the wrapped command behind options, assignments and operands.
pub(super) fn operands(wrapper: &Wrapper, arguments: &[String]) -> Rest {
    let mut rest = Rest {
        from: 0,
        doubt: None,
    };
    while let Some(argument) = arguments.get(rest.from) {
        match argument.as_str() {
            "--" => {
                rest.from += 1;
                break;
            }
            option if option.starts_with('-') => rest.option(wrapper, option),
            _ => break,
        }
    }
    rest.from += wrapper.operands;
    rest.assignments(wrapper, arguments);
    rest
}

impl Rest {
    fn option(&mut self, wrapper: &Wrapper, option: &str) {
        let length = match option.starts_with("--") {
            true => long(wrapper, option),
            false => short(wrapper, &option[1..]),
        };
        let unknown = || format!("the option `{option}` of `{}`", wrapper.name);
        if length.is_none() {
            self.doubt.get_or_insert_with(unknown);
        }
        self.from += length.unwrap_or(1);
    }

    /// Variables change what a program does, so what follows them is not what it seems.
    fn assignments(&mut self, wrapper: &Wrapper, arguments: &[String]) {
        while let Some(argument) = arguments.get(self.from) {
            let Some((variable, _)) = argument.split_once('=').filter(|_| wrapper.sets_variables)
            else {
                return;
            };
            let why = || format!("`{}` sets `{variable}`", wrapper.name);
            self.doubt.get_or_insert_with(why);
            self.from += 1;
        }
    }
}

/// How many words a long option takes, if it is known.
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

/// How many words a cluster of short options takes, if all of them are known.
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
