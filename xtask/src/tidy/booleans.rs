//! The rule that a boolean is asked with `if`, not matched.
//! It knows arms, not types: an arm whose pattern is `true` or `false` is one of a boolean `match`.

use super::code::words;
use super::file::{Fault, File};

/// No `match` has an arm `true` or `false`.
pub(crate) fn booleans(file: &File) -> Vec<Fault> {
    arms(&file.code)
        .into_iter()
        .map(|line| {
            Fault::new(
                line,
                "ask a boolean with `if`, `let … else` or an early return",
            )
        })
        .collect()
}

/// The lines of arms that match a boolean.
pub(crate) fn arms(code: &str) -> Vec<usize> {
    let is_arm = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("true").or(line.strip_prefix("false"));
        rest.is_some_and(|rest| {
            let rest = rest.trim_start();
            rest.starts_with("=>") || rest.starts_with("if ") && rest.contains("=>")
        })
    };
    let lines = code.lines().enumerate();
    let arms = lines.filter(|(_, line)| words(line).count() > 0 && is_arm(line));
    arms.map(|(at, _)| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn arms_of_booleans_are_found() {
        let bad = "match a {\n    true => 1,\n    false if b => 2,\n    false => 3,\n}";
        assert_eq!(lines(booleans, "src/a.rs", bad), [2, 3, 4]);
    }

    #[test]
    fn other_arms_and_conditions_pass() {
        let good = "match a {\n    (true, _) => 1,\n    Some(false) => 2,\n}\nlet c = if a { true } else { false };\n// true => 1";
        assert_eq!(lines(booleans, "src/a.rs", good), []);
    }
}
