//! The integration tests of `toolcall-acp`, one module a subject, in one binary.

mod agent;
mod connection;
mod decode;
#[path = "../../../toolcall/tests/events/mod.rs"]
mod events;
mod fold;
mod golden;
mod refold;
mod reporting;
mod said;
mod seeds;
mod wires;
