//! `toolcall mcp test`: starts servers, lists their tools and stops them.
//! It calls none of the tools.

use std::process::ExitCode;

use anstyle::Style;
use anyhow::bail;
use serde_json::{Value, json};
use toolcall_tools::command::Supervisor;
use toolcall_tools::mcp::{ServerState, ServerStatus};

use crate::args::McpTestArgs;
use crate::context::{
    CliContext, CliContextOptions, CommandIsolation, ServerSelection, working_directory,
};
use crate::environment::UserEnvironment;
use crate::screen::{self, Screen};
use crate::view::{BAD, BOLD, DIM, GOOD, PLAIN, one_line, paint, pluralize, width, wrap};
use toolcall_agent::{ConfiguredServers, ServerTrust, new_session};

/// Tests the servers.
pub(crate) async fn run(args: &McpTestArgs, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let user = UserEnvironment::from_env()?;
    if let Some(name) = &args.name {
        let cwd = working_directory(args.scope.cwd.as_deref())?;
        check_name(name, &ConfiguredServers::read(&user.dirs, &cwd))?;
    }
    let context = CliContext::open(CliContextOptions {
        session: new_session(),
        directory: args.scope.cwd.clone(),
        user,
        supervisor,
        isolation: CommandIsolation::None,
        layers: Vec::new(),
        servers: match &args.name {
            Some(name) => ServerSelection::Only(name.clone()),
            None => ServerSelection::All,
        },
    })?;
    let statuses = context.start_servers().await;
    context.close().await;
    let (screen, output) = screen::open()?;
    if args.scope.json {
        let all: Vec<Value> = statuses.iter().map(as_json).collect();
        screen.line(&format!("{:#}", Value::Array(all)));
    } else if statuses.is_empty() {
        screen.line("no servers are configured; `toolcall mcp add NAME -- COMMAND` adds one");
    } else {
        statuses.iter().for_each(|status| show(&screen, status));
    }
    output.finish()?;
    let has_failed = |status: &ServerStatus| matches!(status.state, ServerState::Failed { .. });
    Ok(if statuses.iter().any(has_failed) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Checks that the named server exists and may be started, before any is started.
fn check_name(name: &str, configured: &ConfiguredServers) -> anyhow::Result<()> {
    let mut servers = configured.servers.iter();
    let server = servers.find(|server| *server.settings.name == *name);
    match server.map(|server| server.standing) {
        Some(ServerTrust::Usable | ServerTrust::Hidden) => Ok(()),
        Some(ServerTrust::Untrusted) => bail!(
            "the server `{name}` is from this project, which is not trusted; review it with `toolcall trust`"
        ),
        None => bail!(
            "there is no server `{}`; `toolcall mcp list` shows them",
            one_line(name)
        ),
    }
}

fn show(screen: &Screen, status: &ServerStatus) {
    let name = paint(BOLD, &format!("{:<16}", status.name));
    let state = match &status.state {
        ServerState::Ready => paint(GOOD, "ready"),
        ServerState::Failed { .. } => paint(BAD, "failed"),
        ServerState::Disabled => "disabled".to_owned(),
        ServerState::Idle | ServerState::Starting | ServerState::Closed => "not started".to_owned(),
    };
    let about = if status.server.is_empty() {
        String::new()
    } else {
        format!("{}, protocol {}", one_line(&status.server), status.protocol)
    };
    screen.line(&format!("{name} {state}  {about}"));
    show_indented(screen, PLAIN, &status.provider);
    if let ServerState::Failed { reason } = &status.state {
        show_indented(screen, PLAIN, reason);
        status
            .log
            .iter()
            .for_each(|line| show_indented(screen, DIM, line));
    } else {
        status
            .notes
            .iter()
            .for_each(|note| show_indented(screen, PLAIN, note));
    }
    if !status.tools.is_empty() {
        let (count, names) = (
            pluralize(status.tools.len(), "tool"),
            status.tools.join(", "),
        );
        show_indented(screen, PLAIN, &format!("{count}: {names}"));
    }
}

fn show_indented(screen: &Screen, style: Style, text: &str) {
    for line in wrap(&one_line(text), width()) {
        screen.line(&paint(style, &line));
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
