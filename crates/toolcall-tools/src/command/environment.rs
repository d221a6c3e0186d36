//! The environment that commands find: the agent's own, made fit for programs that nobody answers.
//! It sets no variable of the process itself.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// What is set for every command: nobody is there to page, to type a password or to see colours.
const SET: [(&str, &str); 4] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
];

const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What would open a window and wait for somebody.
const UNSET: [&str; 2] = ["SSH_ASKPASS", "GIT_ASKPASS"];

/// The environment of commands, made from that of the agent.
pub fn of_commands(
    agent: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<_, _> = agent.into_iter().collect();
    // Shells, too, look somewhere where nobody says where.
    env.entry("PATH".into())
        .or_insert_with(|| USUAL_PATH.into());
    for name in UNSET {
        env.remove(name.as_ref() as &std::ffi::OsStr);
    }
    env.extend(SET.map(|(name, value)| (name.into(), value.into())));
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_and_nothing_is_paged() {
        let agent = [
            ("PATH", "/bin"),
            ("PAGER", "less"),
            ("TERM", "xterm"),
            ("SSH_ASKPASS", "/usr/bin/window"),
        ];
        let env = of_commands(agent.map(|(name, value)| (name.into(), value.into())));
        let shown: Vec<_> = env
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        let expected = "GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 PAGER=cat PATH=/bin TERM=dumb";
        assert_eq!(shown.join(" "), expected);
    }
}
