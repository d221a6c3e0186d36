//! `toolcall config init`: the settings file with every key explained and at its default.
//! It replaces nothing, and knows no key by itself.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use tempfile::NamedTempFile;

use super::file::path;
use super::keys::{KEYS, Key};
use super::settings::Config;
use crate::places::{Person, by_a_person};
use crate::screen;
use crate::view::one_line;

/// The columns that an explanation takes.
const WIDTH: usize = 98;

const OPENING: &str = "\
# Config of `toolcall`. Every key stands here at its default: take the `#` before it away to
# change it. `toolcall config show` tells what holds, and why.
#
# How much is done without asking is not set here: that is `mode` in `policy.toml`, beside this
# file. MCP servers are set up with `toolcall mcp add`.
";

/// Writes the file, if there is none.
pub(super) fn init(person: &Person) -> anyhow::Result<()> {
    by_a_person("config init")?;
    let path = path(person);
    let shown = one_line(&path.to_string_lossy());
    match write(&path, &document()) {
        Ok(()) => screen::print(&[
            format!("wrote {shown}"),
            "every key in it is at its default; take the `#` before one away to change it".into(),
        ]),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{shown}` is there already and is left as it is; edit it, or take it away first")
        }
        Err(error) => Err(error).with_context(|| format!("`{shown}` cannot be written")),
    }
}

/// The whole file.
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

fn heading(key: &Key) -> String {
    let table = key.table.unwrap_or_default();
    format!("[{table}]\n\n")
}

fn entry(key: &Key, defaults: &Config) -> String {
    let value = (key.give)(defaults).json();
    let options = textwrap::Options::new(WIDTH)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent("# ")
        .subsequent_indent("# ");
    let about = textwrap::fill(key.about, &options);
    let takes = textwrap::fill(&format!("Takes {}.", key.takes), &options);
    format!("{about}\n{takes}\n#{} = {value}\n", key.name)
}

/// A private file beside the place, put there only if nothing is.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)
        .map(drop)
        .map_err(|error| error.error)
}
