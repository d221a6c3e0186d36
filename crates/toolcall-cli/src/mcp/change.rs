//! `toolcall mcp add` and `remove`: change the user's `mcp.json`.
//! A file that cannot be parsed is not changed.

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

use crate::args::{McpAddArgs, McpRemoveArgs};
use crate::environment::{UserEnvironment, refuse_inside_tool_call};
use crate::view::one_line;
use toolcall_agent::user_servers_file;

/// Adds a server.
pub(crate) fn add(args: &McpAddArgs) -> anyhow::Result<ExitCode> {
    refuse_inside_tool_call("mcp add")?;
    let server = ServerSettings::new(&args.name, launch(args)?);
    if *server.name != *args.name {
        bail!(
            "`{}` is not a valid server name; use 1 to 64 letters, digits, `_`, `-` or `.`",
            one_line(&args.name)
        );
    }
    let file = user_servers_file(&UserEnvironment::from_env()?.dirs);
    let changed = add_server(&read(&file)?, &server).with_context(|| not_changed(&file))?;
    write(&file, &changed)?;
    let (name, path) = (&server.name, one_line(&file.to_string_lossy()));
    if args.json {
        anstream::println!("{:#}", json!({"name": &**name, "file": path}));
    } else {
        anstream::println!("added `{name}` to {path}");
        anstream::println!("test it with `toolcall mcp test {name}`");
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes a server.
pub(crate) fn remove(args: &McpRemoveArgs) -> anyhow::Result<ExitCode> {
    refuse_inside_tool_call("mcp remove")?;
    let (name, file) = (
        &args.name,
        user_servers_file(&UserEnvironment::from_env()?.dirs),
    );
    let changed = remove_server(&read(&file)?, name).with_context(|| not_changed(&file))?;
    let path = one_line(&file.to_string_lossy());
    let Some(changed) = changed else {
        bail!(
            "there is no server `{}` in {path}; `toolcall mcp list` shows them",
            one_line(name)
        );
    };
    write(&file, &changed)?;
    if args.json {
        anstream::println!("{:#}", json!({"name": name, "file": path}));
    } else {
        anstream::println!("removed `{}` from {path}", one_line(name));
    }
    Ok(ExitCode::SUCCESS)
}

fn launch(args: &McpAddArgs) -> anyhow::Result<Launch> {
    if let Some(url) = &args.url {
        let url = Url::parse(url).context("the address is not a URL; write https://…")?;
        return Ok(Address::new(url, pairs(&args.header)?).into());
    }
    let Some((program, program_args)) = args.command.split_first() else {
        bail!("the program of the server is missing; write it after `--`");
    };
    let program_args = program_args.iter().map(String::as_str);
    Ok(Program::new(program, program_args, pairs(&args.env)?).into())
}

fn pairs(texts: &[String]) -> anyhow::Result<Vec<(&str, &str)>> {
    let pairs = texts.iter().map(|pair| {
        // The value may be secret, so the message does not repeat it.
        pair.split_once('=')
            .context("a header or variable has no `=`; write NAME=VALUE")
    });
    pairs.collect()
}

fn read(file: &Path) -> anyhow::Result<String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| not_changed(file)),
    }
}

fn not_changed(file: &Path) -> String {
    format!("`{}` was not changed", file.display())
}

/// Writes a private temporary file and renames it, so that readers never see a partial file.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let directory = file.parent().unwrap_or(file);
    let mut builder = DirBuilder::new();
    let created = builder.recursive(true).mode(0o700).create(directory);
    let written = created.and_then(|()| {
        let mut temporary = NamedTempFile::new_in(directory)?;
        temporary.write_all(text.as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary
            .persist(file)
            .map(drop)
            .map_err(|error| error.error)
    });
    written.with_context(|| format!("`{}` cannot be written", file.display()))
}
