//! The environment of commands: the agent's own without its secrets, and set up for programs that run unattended.
//! It changes no variable of this process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Set for every command: there is no user to page, to type a password or to see colours.
const SET: [(&str, &str); 4] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The variable with the number of `git` settings in the environment.
const GIT_CONFIG_COUNT: &str = "GIT_CONFIG_COUNT";

/// Removed: programs that would open a window and wait for the user.
const UNSET: [&str; 2] = ["SSH_ASKPASS", "GIT_ASKPASS"];

/// Endings of names of variables that hold secrets. Keys of model providers are in the agent's environment, and a model
/// can print what a command sees. A call that needs one sets it in its own `env`, where the user is asked about it.
const SECRET_SUFFIXES: [&str; 4] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];

/// Returns the environment of commands, derived from that of the agent: without secrets and pagers.
///
/// ```
/// use std::ffi::OsStr;
/// use toolcall_tools::command::command_environment;
///
/// let env = command_environment([
///     ("PATH".into(), "/usr/bin".into()),
///     ("NPM_TOKEN".into(), "secret".into()),
/// ]);
/// assert_eq!(env[OsStr::new("PATH")], "/usr/bin");
/// assert!(!env.contains_key(OsStr::new("NPM_TOKEN")));
/// ```
pub fn command_environment(
    agent: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<_, _> = agent.into_iter().collect();
    // Without a `PATH`, shells use a default, too.
    env.entry("PATH".into())
        .or_insert_with(|| DEFAULT_PATH.into());
    for name in UNSET {
        env.remove(OsStr::new(name));
    }
    env.retain(|name, _| !is_secret(name));
    env.extend(SET.map(|(name, value)| (name.into(), value.into())));
    refuse_bare_repositories(&mut env);
    env
}

fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRET_SUFFIXES.iter().any(|end| name.ends_with(end))
}

/// Makes `git` use a bare repository only if it is named. A directory that looks like one brings its
/// own settings, which may run any program, and any clone can contain such a directory.
fn refuse_bare_repositories(env: &mut BTreeMap<OsString, OsString>) {
    let count = env.get(OsStr::new(GIT_CONFIG_COUNT));
    let count = count.and_then(|count| count.to_str()?.parse().ok());
    let at: u32 = count.unwrap_or(0);
    env.insert(GIT_CONFIG_COUNT.into(), (at + 1).to_string().into());
    env.insert(
        format!("GIT_CONFIG_KEY_{at}").into(),
        "safe.bareRepository".into(),
    );
    env.insert(format!("GIT_CONFIG_VALUE_{at}").into(), "explicit".into());
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
        let env = command_environment(agent.map(|(name, value)| (name.into(), value.into())));
        let shown: Vec<_> = env
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        let expected = "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.bareRepository \
            GIT_CONFIG_VALUE_0=explicit GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 PAGER=cat PATH=/bin \
            TERM=dumb";
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn no_key_is_handed_on() {
        let agent = [
            ("ANTHROPIC_API_KEY", "k"),
            ("AWS_SECRET_ACCESS_KEY", "k"),
            ("client_secret", "k"),
            ("NPM_TOKEN", "k"),
            ("PGPASSWORD_FILE", "f"),
            ("DB_PASSWORD", "k"),
        ];
        let env = command_environment(agent.map(|(name, value)| (name.into(), value.into())));
        let left = env
            .into_keys()
            .filter(|name| !name.to_string_lossy().starts_with("GIT_"));
        let left: Vec<_> = left.collect();
        assert_eq!(left, ["PAGER", "PATH", "PGPASSWORD_FILE", "TERM"]);
    }

    #[test]
    fn settings_of_git_that_are_there_stay() {
        let agent = [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "user.name"),
            ("GIT_CONFIG_VALUE_0", "me"),
        ];
        let env = command_environment(agent.map(|(name, value)| (name.into(), value.into())));
        let get = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(get("GIT_CONFIG_COUNT"), Some("2"));
        assert_eq!(get("GIT_CONFIG_KEY_0"), Some("user.name"));
        assert_eq!(get("GIT_CONFIG_KEY_1"), Some("safe.bareRepository"));
        assert_eq!(get("GIT_CONFIG_VALUE_1"), Some("explicit"));
    }
}
