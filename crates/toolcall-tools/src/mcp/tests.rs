//! Tests of the MCP client, with scripted servers.
//! They use no network and no foreign program; a few servers are shell processes.

mod asking;
mod calling;
mod changing;
mod failing;
mod fake;
mod granting;
mod handshake;
mod hostile;
mod http;
mod listing;
mod parsing;
mod processes;
