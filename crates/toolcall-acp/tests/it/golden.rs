//! Golden tests of v1: every line between a client and an agent, stored in files.
//! `UPDATE_EXPECT=1` rewrites the files; a difference is a change of what goes over the wire.

mod agent;
mod check;
pub(crate) mod client_state;
mod harness;
pub(crate) mod line;
mod replaying;
pub(crate) mod rules;
mod schema;
mod script;
mod stories;
mod tools;
