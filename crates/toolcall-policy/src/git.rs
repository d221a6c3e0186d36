//! Finds the programs that a repository's configuration makes `git` run.
//! It searches the given text and finds too much rather than too little.

/// Keys of `git` settings that name a program to run, or a file with more settings.
const RUNNING: [&str; 22] = [
    "fsmonitor",
    "hookspath",
    "pager",
    "editor",
    "sshcommand",
    "askpass",
    "gitproxy",
    "textconv",
    "clean",
    "smudge",
    "process",
    "command",
    "driver",
    "external",
    "helper",
    "program",
    "cmd",
    "path",
    "uploadpack",
    "receivepack",
    "sequenceeditor",
    "worktree",
];

/// Returns the keys of a `.git/config` that make `git` run programs or read settings elsewhere. If there
/// are any, no rule allows `git` (see [`crate::RuleContext`]).
///
/// ```
/// let config = "[core]\n\tbare = false\n\tfsmonitor = touch x\n";
/// assert_eq!(toolcall_policy::find_git_helpers(config), ["fsmonitor"]);
/// ```
pub fn find_git_helpers(config: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut section = String::new();
    for line in config.lines() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header
                .split([' ', ']', '.'])
                .next()
                .unwrap_or_default()
                .to_lowercase();
        }
        // A setting may be on the line of its section.
        let context = line
            .rsplit_once(']')
            .map_or(line, |(_, after)| after.trim());
        let key = context
            .split(['=', ' '])
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let is_harmless = section == "submodule" && key == "path";
        if RUNNING.contains(&key.as_str()) && !is_harmless
            || (section == "alias" && !key.is_empty())
        {
            found.push(key);
        }
    }
    found
}
