//! Assigns each tool of a server a valid and unique name in the registry.
//! Only the model uses this name; rules and servers use the name that the server gave.

use std::collections::{BTreeMap, BTreeSet};

use toolcall::text::is_hidden;

/// The longest name that a registry accepts.
const LONGEST: usize = 128;
/// The longest name that a server may give a tool; a longer one is an attack or a bug.
const LONGEST_NATIVE: usize = 256;

/// Returns why a tool of this name is not offered, if it is not.
pub(super) fn refusal(native: &str) -> Option<&'static str> {
    if native.trim().is_empty() {
        Some("its name is empty")
    } else if native.len() > LONGEST_NATIVE {
        Some("its name is too long")
    } else if native.chars().any(is_hidden) {
        Some("its name has hidden characters")
    } else {
        None
    }
}

/// Returns the registry names of these tools (server and native name), in the same order: the native name where
/// it is unique, else `server__tool`.
pub(super) fn assign(tools: &[(&str, &str)], is_taken: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wanted = BTreeMap::<String, usize>::new();
    for (_, native) in tools {
        *wanted.entry(plain(native)).or_default() += 1;
    }
    let is_free = |name: &String| wanted[name] == 1 && !is_taken(name);
    // Native names are taken first, so that no `server__tool` name can collide with one.
    let mut used: BTreeSet<String> = tools
        .iter()
        .map(|(_, native)| plain(native))
        .filter(is_free)
        .collect();
    let mut names = Vec::with_capacity(tools.len());
    for (server, native) in tools {
        let own = plain(native);
        let name = if is_free(&own) {
            own
        } else {
            unused(&plain(&format!("{server}__{native}")), |name| {
                used.contains(name) || is_taken(name)
            })
        };
        used.insert(name.clone());
        names.push(name);
    }
    names
}

/// Replaces characters that a registry does not accept with `_`, and cuts the name to the longest one.
fn plain(native: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let name = native.chars().map(|c| if is_plain(c) { c } else { '_' });
    name.take(LONGEST).collect()
}

fn unused(name: &str, is_used: impl Fn(&str) -> bool) -> String {
    let numbered = |number: usize| {
        let suffix = format!("_{number}");
        let kept: String = name.chars().take(LONGEST - suffix.len()).collect();
        kept + &suffix
    };
    if is_used(name) {
        (2..)
            .map(numbered)
            .find(|name| !is_used(name))
            .unwrap_or_default()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tools: &[(&str, &str)], taken: &[&str], expected: &[&str]) {
        assert_eq!(assign(tools, |name| taken.contains(&name)), expected);
    }

    #[test]
    fn names_are_kept_where_nobody_else_has_them() {
        check(&[("a", "x"), ("b", "y.z/w")], &[], &["x", "y.z/w"]);
    }

    #[test]
    fn two_servers_with_one_name_both_say_who_they_are() {
        check(
            &[("a", "x"), ("b", "x"), ("b", "y")],
            &[],
            &["a__x", "b__x", "y"],
        );
    }

    #[test]
    fn a_built_in_name_is_never_taken() {
        check(&[("a", "read_file")], &["read_file"], &["a__read_file"]);
        check(
            &[("a", "read_file")],
            &["read_file", "a__read_file"],
            &["a__read_file_2"],
        );
    }

    #[test]
    fn joined_names_are_never_the_same() {
        let tools = [("a", "b__x"), ("a_b", "x"), ("c", "x"), ("a", "a_b__x")];
        check(&tools, &[], &["b__x", "a_b__x_2", "c__x", "a_b__x"]);
    }

    #[test]
    fn names_are_made_valid() {
        check(
            &[("a", "find things!"), ("a", "find.things?")],
            &[],
            &["find_things_", "find.things_"],
        );
        check(&[("a", "é x"), ("a", "ü x")], &[], &["a____x", "a____x_2"]);
        let long = "x".repeat(200);
        let names = assign(&[("a", &long), ("b", &long)], |_| false);
        assert!(names.iter().all(|name| name.len() <= LONGEST));
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn hostile_names_are_refused() {
        let long = "x".repeat(10_000);
        let refused = ["", " ", "a\nb", "\u{1b}[31mred", "a\u{202e}b", &long];
        assert!(refused.iter().all(|name| refusal(name).is_some()));
        assert_eq!(refusal("find things"), None);
    }
}
