//! `toolcall mcp test`: servers are started, asked what they offer, and ended.
//! None of their tools is called.

use std::process::ExitCode;

use anstyle::Style;
use anyhow::bail;
use serde_json::{Value, json};
use toolcall_tools::command::Supervisor;
use toolcall_tools::mcp::{ServerState, ServerStatus};

use crate::args::Testing;
use crate::context::{Crew, Plan, Walls, Workshop, working_folder};
use crate::places::Person;
use crate::screen::{self, Screen};
use crate::view::{BAD, BOLD, DIM, GOOD, PLAIN, one_line, painted, width, wrapped};
use toolcall_agent::{ConfiguredServers, ServerTrust, new_session};

/// Tries the servers.
pub(crate) async fn run(testing: &Testing, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let person = Person::here()?;
    if let Some(name) = &testing.name {
        let cwd = working_folder(testing.here.cwd.as_deref())?;
        check_name(name, &ConfiguredServers::read(&person.places, &cwd))?;
    }
    let workshop = Workshop::open(Plan {
        session: new_session(),
        folder: testing.here.cwd.clone(),
        person,
        supervisor,
        walls: Walls::None,
        layers: Vec::new(),
        crew: match &testing.name {
            Some(name) => Crew::Only(name.clone()),
            None => Crew::Every,
        },
    })?;
    let tried = workshop.try_servers().await;
    workshop.close().await;
    let (screen, writing) = screen::open()?;
    match testing.here.json {
        true => {
            let all: Vec<Value> = tried.iter().map(as_json).collect();
            screen.line(&format!("{:#}", Value::Array(all)));
        }
        false if tried.is_empty() => {
            screen.line("no servers are set up; `toolcall mcp add NAME -- COMMAND` sets one up");
        }
        false => tried.iter().for_each(|status| show(&screen, status)),
    }
    writing.finish()?;
    let is_bad = |status: &ServerStatus| matches!(status.state, ServerState::Failed { .. });
    Ok(match tried.iter().any(is_bad) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// What cannot be started is said before anything is.
fn check_name(name: &str, found: &ConfiguredServers) -> anyhow::Result<()> {
    let mut known = found.servers.iter();
    let known = known.find(|known| *known.settings.name == *name);
    match known.map(|known| known.standing) {
        Some(ServerTrust::Usable | ServerTrust::Hidden) => Ok(()),
        Some(ServerTrust::Untrusted) => bail!(
            "`{name}` is a server of this project, which is not trusted; look at it with `toolcall trust`"
        ),
        None => bail!(
            "there is no server `{}`; `toolcall mcp list` shows them",
            one_line(name)
        ),
    }
}

fn show(screen: &Screen, status: &ServerStatus) {
    let name = painted(BOLD, &format!("{:<16}", status.name));
    let state = match &status.state {
        ServerState::Ready => painted(GOOD, "ready"),
        ServerState::Failed { .. } => painted(BAD, "failed"),
        ServerState::Disabled => "disabled".to_owned(),
        ServerState::Idle | ServerState::Starting | ServerState::Closed => "not started".to_owned(),
    };
    let about = match status.server.is_empty() {
        true => String::new(),
        false => format!("{}, protocol {}", one_line(&status.server), status.protocol),
    };
    screen.line(&format!("{name} {state}  {about}"));
    say(screen, PLAIN, &status.provider);
    if let ServerState::Failed { reason } = &status.state {
        say(screen, PLAIN, reason);
        status.log.iter().for_each(|line| say(screen, DIM, line));
    } else {
        status
            .notes
            .iter()
            .for_each(|note| say(screen, PLAIN, note));
    }
    if !status.tools.is_empty() {
        let (count, names) = (status.tools.len(), status.tools.join(", "));
        say(screen, PLAIN, &format!("{count} tools: {names}"));
    }
}

fn say(screen: &Screen, style: Style, text: &str) {
    for line in wrapped(&one_line(text), width()) {
        screen.line(&painted(style, &line));
    }
}

fn as_json(status: &ServerStatus) -> Value {
    let (state, reason) = match &status.state {
        ServerState::Disabled => ("disabled", None),
        ServerState::Idle => ("idle", None),
        ServerState::Starting => ("starting", None),
        ServerState::Ready => ("ready", None),
        ServerState::Failed { reason } => ("failed", Some(&**reason)),
        ServerState::Closed => ("closed", None),
    };
    json!({
        "name": &*status.name,
        "provider": &*status.provider,
        "state": state,
        "reason": reason,
        "server": status.server,
        "protocol": status.protocol,
        "tools": status.tools.iter().map(|tool| &**tool).collect::<Vec<_>>(),
        "notes": status.notes,
        "log": status.log,
    })
}
