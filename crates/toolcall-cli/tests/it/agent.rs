//! `toolcall agent` as it is, with every line recorded in both directions and judged.
//! Clients of others drive it, too, where `cargo xtask test` put them. No network is reached and no process is left behind.

#![cfg(target_os = "linux")]

mod cases;
mod client;
mod hostile;
mod linter;
mod many;
mod stage;
mod strangers;
mod terminals;
mod wire;
