//! `toolcall mcp list`: what is set up, where, and whether it may be started.
//! It starts nothing and shows no secret.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::Here;
use crate::context::working_folder;
use crate::places::Person;
use crate::screen;
use crate::view::{ATTENTION, BOLD, DIM, one_line, painted, width, wrapped};
use toolcall_agent::{ConfiguredServer, ConfiguredServers, ServerTrust, own_file};

/// Lists the servers.
pub(crate) fn run(here: &Here) -> anyhow::Result<ExitCode> {
    let person = Person::here()?;
    let found = ConfiguredServers::read(&person.places, &working_folder(here.cwd.as_deref())?);
    let (screen, writing) = screen::open()?;
    if here.json {
        let all: Vec<Value> = found.servers.iter().map(as_json).collect();
        screen.line(&format!("{:#}", Value::Array(all)));
    } else {
        found.servers.iter().flat_map(lines).for_each(|line| {
            screen.line(&line);
        });
        if found.servers.is_empty() {
            let file = own_file(&person.places);
            screen.line("no servers are set up; `toolcall mcp add NAME -- COMMAND` sets one up in");
            screen.line(&one_line(&file.to_string_lossy()));
        }
    }
    writing.finish()?;
    for problem in &found.problems {
        anstream::eprintln!("warning: {}", one_line(problem));
    }
    Ok(match found.problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn lines(known: &ConfiguredServer) -> Vec<String> {
    let settings = &known.settings;
    let name = painted(BOLD, &format!("{:<16}", settings.name));
    let state = painted(ATTENTION, note(known));
    let provider = one_line(&settings.provider());
    let mut lines = vec![format!("{name} {provider} {state}").trim_end().to_owned()];
    let file = one_line(&known.file.to_string_lossy());
    lines.push(painted(DIM, &format!("          from {file}")));
    for note in &settings.notes {
        lines.extend(wrapped(note, width()));
    }
    lines
}

fn note(known: &ConfiguredServer) -> &'static str {
    match (known.standing, known.settings.is_disabled) {
        (ServerTrust::Usable, false) => "",
        (ServerTrust::Usable, true) => "(disabled)",
        (ServerTrust::Untrusted, _) => "(not trusted: `toolcall trust`)",
        (ServerTrust::Hidden, _) => "(your own server of this name is used instead)",
    }
}

fn as_json(known: &ConfiguredServer) -> Value {
    let state = match (known.standing, known.settings.is_disabled) {
        (ServerTrust::Usable, false) => "usable",
        (ServerTrust::Usable, true) => "disabled",
        (ServerTrust::Untrusted, _) => "untrusted",
        (ServerTrust::Hidden, _) => "hidden",
    };
    json!({
        "name": &*known.settings.name,
        "provider": &*known.settings.provider(),
        "file": known.file.to_string_lossy(),
        "state": state,
        "notes": known.settings.notes,
    })
}
