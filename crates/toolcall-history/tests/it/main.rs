//! Tests of the history through its public API and its files.
//! They use no internals of the crate.

mod eight_processes;
mod failures;
mod forgetting;
mod killed;
mod older;
mod reading;
mod replay;
mod secrets;
mod setup;
mod statistics;
mod tampering;
mod undoing;
