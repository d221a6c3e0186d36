//! `toolcall mcp add` and `remove`: the person's own settings, changed as a whole.
//! A file that cannot be read is left as it is.

use std::fs::DirBuilder;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;
use tempfile::NamedTempFile;
use toolcall_tools::mcp::{
    Address, Launch, Program, ServerSettings, Url, add_server, remove_server,
};

use crate::args::{Adding, Removing};
use crate::places::{Person, by_a_person};
use crate::view::one_line;
use toolcall_agent::own_file;

/// Sets up a server.
pub(crate) fn add(adding: &Adding) -> anyhow::Result<ExitCode> {
    by_a_person("mcp add")?;
    let server = ServerSettings::new(&adding.name, launch(adding)?);
    if *server.name != *adding.name {
        bail!(
            "`{}` is no name for a server; use 1 to 64 letters, digits, `_`, `-` or `.`",
            one_line(&adding.name)
        );
    }
    let file = own_file(&Person::here()?.places);
    let changed = add_server(&read(&file)?, &server).with_context(|| left_alone(&file))?;
    write(&file, &changed)?;
    let (name, path) = (&server.name, one_line(&file.to_string_lossy()));
    match adding.json {
        true => anstream::println!("{:#}", json!({"name": &**name, "file": path})),
        false => {
            anstream::println!("set up `{name}` in {path}");
            anstream::println!("try it with `toolcall mcp test {name}`");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes a server out.
pub(crate) fn remove(removing: &Removing) -> anyhow::Result<ExitCode> {
    by_a_person("mcp remove")?;
    let (name, file) = (&removing.name, own_file(&Person::here()?.places));
    let changed = remove_server(&read(&file)?, name).with_context(|| left_alone(&file))?;
    let path = one_line(&file.to_string_lossy());
    let Some(changed) = changed else {
        bail!(
            "there is no server `{}` in {path}; `toolcall mcp list` shows them",
            one_line(name)
        );
    };
    write(&file, &changed)?;
    match removing.json {
        true => anstream::println!("{:#}", json!({"name": name, "file": path})),
        false => anstream::println!("took `{}` out of {path}", one_line(name)),
    }
    Ok(ExitCode::SUCCESS)
}

fn launch(adding: &Adding) -> anyhow::Result<Launch> {
    if let Some(url) = &adding.url {
        let url = Url::parse(url).context("that is no address; write https://…")?;
        return Ok(Address::new(url, pairs(&adding.header)?).into());
    }
    let Some((command, args)) = adding.command.split_first() else {
        bail!("name the program of the server after `--`");
    };
    let args = args.iter().map(String::as_str);
    Ok(Program::new(command, args, pairs(&adding.env)?).into())
}

fn pairs(written: &[String]) -> anyhow::Result<Vec<(&str, &str)>> {
    let pairs = written.iter().map(|pair| {
        // The value may be secret, so it is not repeated.
        pair.split_once('=').context("write NAME=VALUE")
    });
    pairs.collect()
}

fn read(file: &Path) -> anyhow::Result<String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| left_alone(file)),
    }
}

fn left_alone(file: &Path) -> String {
    format!("`{}` is left as it is", file.display())
}

/// A private file beside the place, renamed: nobody ever sees half of it.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().unwrap_or(file);
    let mut folders = DirBuilder::new();
    let made = folders.recursive(true).mode(0o700).create(folder);
    let written = made.and_then(|()| {
        let mut temporary = NamedTempFile::new_in(folder)?;
        temporary.write_all(text.as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary
            .persist(file)
            .map(drop)
            .map_err(|error| error.error)
    });
    written.with_context(|| format!("`{}` cannot be written", file.display()))
}
