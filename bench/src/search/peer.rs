//! The other side: the program `rg`, with flags that make it search what the tools search.
//! It changes nothing of its own configuration.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Search;

/// Names the program, where it is not on `PATH`.
const PROGRAM: &str = "TOOLCALL_BENCH_RG";

/// No configuration of the machine, nothing above the tree; `.gitignore` counts also where there is no repository.
const SAME: [&str; 7] = [
    "--no-config",
    "--no-messages",
    "--no-ignore-global",
    "--no-ignore-parent",
    "--no-require-git",
    "--crlf",
    "--color=never",
];

pub(super) struct Ripgrep(OsString);

impl Ripgrep {
    pub(super) fn installed() -> Result<Self, String> {
        let program = std::env::var_os(PROGRAM).unwrap_or_else(|| "rg".into());
        let version = Command::new(&program).arg("--version").output();
        match version {
            Ok(output) if output.status.success() => Ok(Self(program)),
            Ok(_) | Err(_) => Err(format!(
                "ripgrep is needed to compare with: `cargo install ripgrep`, or the package `ripgrep` of your \
                 system, and `rg` on PATH or named in {PROGRAM}"
            )),
        }
    }

    /// Searches as a person would, and takes what is printed.
    pub(super) fn search(&self, tree: &Path, search: &Search) -> usize {
        self.printed(tree, &["-n", "--no-heading", syntax(search), search.query])
            .len()
    }

    /// Every match as `path:line`.
    pub(super) fn matches(&self, tree: &Path, search: &Search) -> Vec<String> {
        let arguments = ["-n", "--no-heading", "--null", syntax(search), search.query];
        let printed = self.printed(tree, &arguments);
        let lines = printed.split(|byte| *byte == b'\n');
        lines.filter_map(place).collect()
    }

    pub(super) fn list(&self, tree: &Path) -> usize {
        self.printed(tree, &["--files"]).len()
    }

    /// In the order that ours shows, which costs ripgrep its threads.
    pub(super) fn list_sorted(&self, tree: &Path) -> usize {
        self.printed(tree, &["--files", "--sort", "path"]).len()
    }

    pub(super) fn files(&self, tree: &Path) -> Vec<String> {
        let printed = self.printed(tree, &["--files"]);
        let text = String::from_utf8_lossy(&printed);
        text.lines().map(str::to_owned).collect()
    }

    pub(super) fn find(&self, tree: &Path, pattern: &str) -> usize {
        self.printed(tree, &["--files", "-g", pattern]).len()
    }

    fn printed(&self, tree: &Path, arguments: &[&str]) -> Vec<u8> {
        let output = Command::new(&self.0)
            .args(SAME)
            .args(arguments)
            .current_dir(tree)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        output.expect("ripgrep can be started").stdout
    }
}

fn syntax(search: &Search) -> &'static str {
    if search.is_regex { "-e" } else { "-Fe" }
}

/// A line without a number says something about a binary file.
fn place(line: &[u8]) -> Option<String> {
    let (path, rest) = split(line, 0)?;
    let (number, _) = split(rest, b':')?;
    let number: u64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some(format!("{}:{number}", String::from_utf8_lossy(path)))
}

fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|byte| *byte == at)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}
