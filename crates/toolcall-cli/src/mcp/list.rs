//! `toolcall mcp list`: lists the configured servers, their files, and whether they may be started.
//! It starts nothing and shows no secrets.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::McpScopeArgs;
use crate::context::working_directory;
use crate::environment::UserEnvironment;
use crate::screen;
use crate::view::{ATTENTION, BOLD, DIM, one_line, paint, width, wrap};
use toolcall_agent::{ConfiguredServer, ConfiguredServers, ServerTrust, user_servers_file};

/// Lists the servers.
pub(crate) fn run(args: &McpScopeArgs) -> anyhow::Result<ExitCode> {
    let user = UserEnvironment::from_env()?;
    let configured = ConfiguredServers::read(&user.dirs, &working_directory(args.cwd.as_deref())?);
    let (screen, output) = screen::open()?;
    if args.json {
        let all: Vec<Value> = configured.servers.iter().map(as_json).collect();
        screen.line(&format!("{:#}", Value::Array(all)));
    } else {
        configured.servers.iter().flat_map(lines).for_each(|line| {
            screen.line(&line);
        });
        if configured.servers.is_empty() {
            let file = user_servers_file(&user.dirs);
            screen
                .line("no servers are configured; `toolcall mcp add NAME -- COMMAND` adds one to");
            screen.line(&one_line(&file.to_string_lossy()));
        }
    }
    output.finish()?;
    for problem in &configured.problems {
        anstream::eprintln!("warning: {}", one_line(problem));
    }
    Ok(if configured.problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn lines(server: &ConfiguredServer) -> Vec<String> {
    let settings = &server.settings;
    let name = paint(BOLD, &format!("{:<16}", settings.name));
    let state = paint(ATTENTION, note(server));
    let provider = one_line(&settings.provider());
    let mut lines = vec![format!("{name} {provider} {state}").trim_end().to_owned()];
    let file = one_line(&server.file.to_string_lossy());
    lines.push(paint(DIM, &format!("          from {file}")));
    for note in &settings.notes {
        lines.extend(wrap(note, width()));
    }
    lines
}

fn note(server: &ConfiguredServer) -> &'static str {
    match server.standing {
        ServerTrust::Usable if server.settings.is_disabled => "(disabled)",
        ServerTrust::Usable => "",
        ServerTrust::Untrusted => "(not trusted: `toolcall trust`)",
        ServerTrust::Hidden => "(your own server of this name is used instead)",
    }
}

fn as_json(server: &ConfiguredServer) -> Value {
    let state = match server.standing {
        ServerTrust::Usable if server.settings.is_disabled => "disabled",
        ServerTrust::Usable => "usable",
        ServerTrust::Untrusted => "untrusted",
        ServerTrust::Hidden => "hidden",
    };
    json!({
        "name": &*server.settings.name,
        "provider": &*server.settings.provider(),
        "file": server.file.to_string_lossy(),
        "state": state,
        "notes": server.settings.notes,
    })
}
