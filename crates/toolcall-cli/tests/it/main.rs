//! The integration tests of `toolcall-cli`, one module a subject, in one binary.

mod agent;
mod call;
mod config;
mod demo;
mod demo_terminal;
mod history;
mod mcp;
mod mcp_settings;
mod permission;
mod place;
mod policy;
mod serve;
mod telemetry;
mod tools;
