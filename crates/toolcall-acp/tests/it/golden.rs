//! Stories of v1: what a client and an agent say to each other, line by line, kept as files.
//! `UPDATE_EXPECT=1` rewrites them; one that shifts is a change of what goes over the wire.

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
