//! The integration tests of `toolcall-cli`, one module a subject, in one binary.

mod agent;
mod call;
mod config;
mod demo;
#[cfg(unix)]
mod demo_terminal;
mod history;
#[cfg(unix)]
mod home;
mod mcp;
mod mcp_settings;
mod permission;
mod policy;
mod recorder;
mod serve;
mod telemetry;
mod tools;
mod wire;

/// This program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolcall");
