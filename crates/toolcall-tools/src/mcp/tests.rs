//! Servers as scripts: what they do to us, and what comes of it.
//! No network and no foreign program; a few servers are real processes made of the shell.

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
