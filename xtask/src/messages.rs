//! `cargo xtask messages`: every message, label, error and help text of the program, in one file to be read through.
//! It finds texts, not faults: a literal with words in it is taken for a message.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::tidy::code::literals;
use crate::tidy::file::File;
use crate::tidy::tree::Tree;

/// Where the list is written, below the root of the workspace.
const FILE: &str = "target/messages.txt";

/// Writes the list.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let (text, count) = list(&tree);
    let path = root.join(FILE);
    let unwritable = |error| format!("`{}` cannot be written: {error}", path.display());
    fs::create_dir_all(root.join("target")).map_err(unwritable)?;
    fs::write(&path, text).map_err(unwritable)?;
    println!("{count} messages in {FILE}");
    Ok(())
}

fn list(tree: &Tree) -> (String, usize) {
    let (mut text, mut count) = (String::new(), 0);
    for file in tree.files.iter().filter(|file| is_source(file)) {
        let mut messages = messages(file);
        messages.sort();
        if messages.is_empty() {
            continue;
        }
        count += messages.len();
        let _infallible = writeln!(text, "{}", file.path);
        for (line, message) in messages {
            let _infallible = writeln!(text, "  {line:>4}  {message}");
        }
    }
    (text, count)
}

fn is_source(file: &File) -> bool {
    file.is_rust()
        && file.path.starts_with("crates/")
        && !file.code_before_tests().is_empty()
        && file.path.contains("/src/")
        && !file.path.starts_with("crates/toolcall-testkit/")
}

/// The messages of a file with their lines: literals with words in them, and the help of arguments.
fn messages(file: &File) -> Vec<(usize, String)> {
    let last = file.code_before_tests().lines().count();
    let literals = literals(&file.text).into_iter();
    let mut found: Vec<_> = literals
        .filter(|(line, literal)| *line <= last && is_message(literal))
        .map(|(line, literal)| (line, joined(literal)))
        .collect();
    if file.path.starts_with("crates/toolcall-cli/src/args") {
        let lines = file.text.lines().enumerate();
        let help = lines.filter_map(|(at, line)| Some((at + 1, line.trim().strip_prefix("/// ")?)));
        found.extend(help.map(|(line, help)| (line, help.to_owned())));
    }
    found
}

/// Whether a literal has at least two words, as messages do.
fn is_message(literal: &str) -> bool {
    let is_word = |word: &&str| word.chars().filter(|c| c.is_ascii_lowercase()).count() > 1;
    literal.split_whitespace().filter(is_word).count() > 1
}

fn joined(literal: &str) -> String {
    literal.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_help_are_listed() {
        let code = "//! A.\nconst A: &str = \"there is no tool\"; // \"not this\"\nlet b = \"key\";\n\
                    #[cfg(test)]\nmod tests { const C: &str = \"of a test\"; }";
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", code),
            (
                "crates/toolcall-cli/src/args.rs",
                "//! Args.\n/// Show the tools\nstruct Tools;",
            ),
            ("crates/a/tests/it/main.rs", "let a = \"nothing of tests\";"),
        ]);
        let expected = "crates/a/src/lib.rs\n     2  \"there is no tool\"\n\
                        crates/toolcall-cli/src/args.rs\n     2  Show the tools\n";
        assert_eq!(list(&tree), (expected.to_owned(), 2));
    }
}
