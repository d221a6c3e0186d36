//! The MCP servers that a client asks for, as server configurations.
//! They are started without a question: the user configured them in the client.

use toolcall_acp::service::McpServerConfig;
use toolcall_tools::mcp::{Address, Program, Secret, ServerSettings, Url};

/// Merges the client's servers with the configured ones, and returns notices about servers that cannot
/// be used. On a name clash the client's server wins.
pub(crate) fn servers(
    requested: &[McpServerConfig],
    set_up: Vec<ServerSettings>,
) -> (Vec<ServerSettings>, Vec<String>) {
    let mut servers: Vec<ServerSettings> = Vec::new();
    let mut complaints = Vec::new();
    for request in requested {
        match server(request) {
            Ok(server) if servers.iter().any(|known| known.name == server.name) => {
                complaints.push(format!(
                    "there are two servers `{}`; the first is used",
                    server.name
                ));
            }
            Ok(server) => servers.push(server),
            Err(complaint) => complaints.push(complaint),
        }
    }
    for server in set_up {
        if !servers.iter().any(|known| known.name == server.name) {
            servers.push(server);
        }
    }
    (servers, complaints)
}

fn server(request: &McpServerConfig) -> Result<ServerSettings, String> {
    match request {
        McpServerConfig::Program {
            name,
            command,
            args,
            env,
        } => {
            let program = Program {
                command: command.to_string_lossy().into_owned(),
                args: args.clone(),
                env: env.iter().map(secret).collect(),
                cwd: None,
            };
            Ok(ServerSettings::new(name, program))
        }
        McpServerConfig::Http { name, url, headers } => {
            let url = Url::parse(url)
                .map_err(|error| format!("the address of the server `{name}` is none: {error}"))?;
            let headers = headers.iter().map(secret).collect();
            Ok(ServerSettings::new(name, Address { url, headers }))
        }
        McpServerConfig::Other { kind } => Err(format!(
            "a server that is reached by `{kind}` is left out; use stdio or streamable HTTP"
        )),
    }
}

fn secret((name, value): &(String, String)) -> (String, Secret) {
    (name.clone(), Secret::new(value))
}
