//! The names and numbers of the signals of Linux.
//! A table: it sends no signal and does not ask the system.

use std::borrow::Cow;

/// Returns the name of a signal, such as `SIGKILL`; its number as text if it has no name.
pub(crate) fn name(signal: i32) -> Cow<'static, str> {
    let named = NAMES.iter().find(|(number, _)| *number == signal);
    match named {
        Some((_, name)) => Cow::Borrowed(name),
        None => Cow::Owned(signal.to_string()),
    }
}

/// Returns the number of a signal by its name, with or without `SIG`, or by its number as text.
pub(crate) fn number(text: &str) -> Option<i32> {
    let is_named = |name: &str| name == text || name.strip_prefix("SIG") == Some(text);
    let named = NAMES.iter().find(|(_, name)| is_named(name));
    match named {
        Some((number, _)) => Some(*number),
        None => text.parse().ok().filter(|number| *number > 0),
    }
}

const NAMES: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (16, "SIGSTKFLT"),
    (17, "SIGCHLD"),
    (18, "SIGCONT"),
    (19, "SIGSTOP"),
    (20, "SIGTSTP"),
    (21, "SIGTTIN"),
    (22, "SIGTTOU"),
    (23, "SIGURG"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (27, "SIGPROF"),
    (28, "SIGWINCH"),
    (29, "SIGIO"),
    (30, "SIGPWR"),
    (31, "SIGSYS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_name_is_found_by_it() {
        for signal in 1..100 {
            assert_eq!(number(&name(signal)), Some(signal));
        }
        assert_eq!(name(9), "SIGKILL");
        assert_eq!(name(40), "40");
        assert_eq!(number("TERM"), Some(15));
    }

    #[test]
    fn what_is_no_signal_has_no_number() {
        for text in ["", "SIG", "SIGNOTHING", "0", "-9", "9.5", "99999999999"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
