//! The rule on which crate of the workspace may depend on which.
//! Dev-dependencies are free: tests may look from further up.

use super::file::{Fault, File};

/// Each crate of the workspace and the crates of the workspace it may depend on.
const DIRECTION: [(&str, &[&str]); 11] = [
    ("toolcall", &[]),
    ("toolcall-shell", &["toolcall"]),
    ("toolcall-policy", &["toolcall", "toolcall-shell"]),
    ("toolcall-tools", &["toolcall", "toolcall-shell"]),
    ("toolcall-acp", &["toolcall"]),
    ("toolcall-history", &["toolcall"]),
    ("toolcall-telemetry", &["toolcall"]),
    ("toolcall-testkit", &["toolcall"]),
    ("toolcall-agent", MIDDLE),
    ("toolcall-wrap", MIDDLE),
    ("toolcall-cli", EVERYTHING),
];
const MIDDLE: &[&str] = &[
    "toolcall",
    "toolcall-policy",
    "toolcall-tools",
    "toolcall-acp",
    "toolcall-history",
    "toolcall-telemetry",
];
const EVERYTHING: &[&str] = &[
    "toolcall",
    "toolcall-shell",
    "toolcall-policy",
    "toolcall-tools",
    "toolcall-acp",
    "toolcall-history",
    "toolcall-telemetry",
    "toolcall-agent",
    "toolcall-wrap",
];

/// Crates depend in one direction: cli → {agent, wrap} → {acp, tools, policy, history, telemetry} → toolcall.
pub(crate) fn direction(file: &File) -> Vec<Fault> {
    let folder = file.path.strip_prefix("crates/");
    let Some(name) = folder.and_then(|rest| rest.strip_suffix("/Cargo.toml")) else {
        return Vec::new();
    };
    let Some((_, allowed)) = DIRECTION.iter().find(|(krate, _)| *krate == name) else {
        let advice = format!("`{name}` has no place yet; add it to `DIRECTION` and to the map");
        return vec![Fault::new(1, advice)];
    };
    let upward = dependencies(&file.text).filter(|(_, target)| !allowed.contains(target));
    upward
        .map(|(line, target)| Fault::new(line, format!("`{name}` must not depend on `{target}`")))
        .collect()
}

/// The workspace crates that a manifest depends on, outside of dev-dependencies.
fn dependencies(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        let header = line
            .strip_prefix('[')
            .map(|rest| rest.trim_end_matches(']'));
        if let Some(section) = header {
            let (table, entry) = dependency_table(section);
            inside = table;
            return ours(entry).filter(|_| table).map(|name| (at + 1, name));
        }
        let target = renamed(line).or_else(|| ours(line))?;
        inside.then_some((at + 1, target))
    })
}

/// Whether a section lists dependencies that count, and the entry it is about (`[dependencies.NAME]`).
fn dependency_table(section: &str) -> (bool, &str) {
    let Some((before, after)) = section.split_once("dependencies") else {
        return (false, "");
    };
    (!before.ends_with("dev-"), after.trim_start_matches('.'))
}

/// The crate behind `x = { package = "NAME" }`.
fn renamed(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("package = \"")?;
    ours(rest)
}

/// The name of a workspace crate that `text` begins with.
fn ours(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let name = &text[..end.unwrap_or(text.len())];
    (name == "toolcall" || name.starts_with("toolcall-")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn a_dependency_upward_or_sideways_is_found() {
        let sideways =
            "[dependencies]\ntoolcall.workspace = true\ntoolcall-tools = { path = \"..\" }";
        assert_eq!(
            lines(direction, "crates/toolcall-acp/Cargo.toml", sideways),
            [3]
        );
        assert_eq!(
            lines(direction, "crates/toolcall/Cargo.toml", sideways),
            [2, 3]
        );
        let shell = "[target.'cfg(unix)'.dependencies]\ntoolcall-shell = \"0\"";
        assert_eq!(
            lines(direction, "crates/toolcall-wrap/Cargo.toml", shell),
            [2]
        );
    }

    #[test]
    fn other_spellings_are_found() {
        let table = "\
            [dependencies.toolcall-cli]\n\
            path = \"..\"\n\
            [build-dependencies]\n\
            x = { package = \"toolcall-wrap\" }";
        assert_eq!(
            lines(direction, "crates/toolcall-agent/Cargo.toml", table),
            [1, 4]
        );
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        assert_eq!(lines(direction, "crates/toolcall-new/Cargo.toml", ""), [1]);
    }

    #[test]
    fn the_right_direction_and_dev_dependencies_pass() {
        let good = "\
            [package]\n\
            name = \"toolcall-agent\"\n\
            [dependencies]\n\
            serde = \"1\"\n\
            toolcall-acp = \"0\" # toolcall-cli\n\
            [dev-dependencies]\n\
            toolcall-wrap = \"0\"\n\
            [dev-dependencies.toolcall-cli]\n\
            [lints]\n\
            workspace = true";
        assert_eq!(
            lines(direction, "crates/toolcall-agent/Cargo.toml", good),
            []
        );
        let shell = "[dependencies]\ntoolcall-shell = \"0\"";
        assert_eq!(
            lines(direction, "crates/toolcall-policy/Cargo.toml", shell),
            []
        );
        assert_eq!(lines(direction, "bench/Cargo.toml", shell), []);
    }
}
