//! `toolcall agent`, with every line in both directions recorded and linted.
//! A client of the TypeScript SDK drives it, too, if `cargo xtask test` installed that. No network is used and no process is left.

#![cfg(target_os = "linux")]

mod cases;
mod client;
mod home;
mod hostile;
mod linter;
mod many;
mod terminals;
mod typescript_sdk;
mod wire;
