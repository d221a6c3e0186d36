//! `toolcall config init`: writes the settings file, with every key explained and at its default.
//! It never overwrites a file, and it defines no keys.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use tempfile::NamedTempFile;

use super::file::path;
use super::keys::{ConfigKey, KEYS};
use super::settings::Config;
use crate::environment::{UserEnvironment, refuse_inside_tool_call};
use crate::screen;
use crate::view::one_line;

/// The line width of explanations.
const WIDTH: usize = 98;

const OPENING: &str = "\
# Settings of `toolcall`. Every key is listed with its default; to change one, remove its `#`.
# `toolcall config show` prints the values in effect and where they come from.
#
# What runs without asking is not set here, but with `mode` in `policy.toml`, in the same directory.
# MCP servers are set up with `toolcall mcp add`.
";

/// Writes the file unless it exists.
pub(super) fn run(user: &UserEnvironment) -> anyhow::Result<()> {
    refuse_inside_tool_call("config init")?;
    let path = path(user);
    let shown = one_line(&path.to_string_lossy());
    match write(&path, &document()) {
        Ok(()) => screen::print(&[
            format!("wrote {shown}"),
            "every key is at its default; to change one, remove the `#` before it".into(),
        ]),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{shown}` already exists and was not changed; edit it, or remove it first")
        }
        Err(error) => Err(error).with_context(|| format!("`{shown}` cannot be written")),
    }
}

/// Returns the text of the file.
pub(super) fn document() -> String {
    let defaults = Config::default();
    let mut document = OPENING.to_owned();
    let mut table = None;
    for key in &KEYS {
        document.push('\n');
        if key.table != table {
            table = key.table;
            document.push_str(&heading(key));
        }
        document.push_str(&entry(key, &defaults));
    }
    document
}

fn heading(key: &ConfigKey) -> String {
    let table = key.table.unwrap_or_default();
    format!("[{table}]\n\n")
}

fn entry(key: &ConfigKey, defaults: &Config) -> String {
    let value = (key.get)(defaults).json();
    let options = textwrap::Options::new(WIDTH)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent("# ")
        .subsequent_indent("# ");
    let about = textwrap::fill(key.about, &options);
    let accepts = textwrap::fill(&format!("Takes {}.", key.accepts), &options);
    format!("{about}\n{accepts}\n#{} = {value}\n", key.name)
}

/// Writes a private temporary file, then moves it to `path` unless that exists.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)
        .map(drop)
        .map_err(|error| error.error)
}
