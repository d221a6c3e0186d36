//! What a rule sees and says: a file of the tree, and faults found in it.
//! It reads nothing from disk.

use std::fmt;

use super::code;

/// One file of the tree, with its path from the root, written with `/`.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
    /// The text of a Rust file without comments and literals, line for line; empty for other files.
    pub(crate) code: String,
}

impl File {
    /// A file with this path and text.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let rust = if path.ends_with(".rs") { text } else { "" };
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code: code::only(rust),
        }
    }

    /// Whether this is Rust source.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether this is a manifest of cargo.
    pub(crate) fn is_manifest(&self) -> bool {
        self.path == "Cargo.toml" || self.path.ends_with("/Cargo.toml")
    }

    /// The code above an inline `#[cfg(test)] mod …`; none at all for a file of tests.
    pub(crate) fn code_before_tests(&self) -> &str {
        if self.path.ends_with("/tests.rs") || self.path.contains("/tests/") {
            return "";
        }
        let mut marks = self.code.match_indices("#[cfg(test)]\nmod ");
        let inline = marks.find(|(at, _)| {
            let module = self.code[*at..].lines().nth(1);
            module.is_some_and(|line| line.contains('{'))
        });
        &self.code[..inline.map_or(self.code.len(), |(at, _)| at)]
    }
}

/// Something a rule objects to: where, and what to do about it.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) advice: String,
}

impl Fault {
    /// A fault on a line, counted from 1.
    pub(crate) fn new(line: usize, advice: impl Into<String>) -> Self {
        let advice = advice.into();
        Self { line, advice }
    }
}

/// A fault with the file and the rule it belongs to.
#[derive(Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) advice: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, .. } = self;
        write!(f, "{path}:{line}: {}: {}", self.rule, self.advice)
    }
}

/// The lines a rule objects to in a sample.
#[cfg(test)]
pub(crate) fn lines(rule: fn(&File) -> Vec<Fault>, path: &str, text: &str) -> Vec<usize> {
    let faults = rule(&File::new(path, text));
    faults.into_iter().map(|fault| fault.line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_inside_a_file_can_be_left_out() {
        let file = File::new(
            "src/a.rs",
            "fn a() {}\n#[cfg(test)]\nmod tests { struct B; }",
        );
        assert_eq!(file.code_before_tests(), "fn a() {}\n");
        let elsewhere = File::new("src/a.rs", "#[cfg(test)]\nmod tests;\nfn b() {}");
        assert_eq!(elsewhere.code_before_tests(), elsewhere.code);
        assert_eq!(
            File::new("src/tests.rs", "fn a() {}").code_before_tests(),
            ""
        );
    }
}
