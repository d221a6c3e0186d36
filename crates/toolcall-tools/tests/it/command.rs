//! Real commands under a real supervisor: output, hostile trees, redirects, sandbox, background.
//! Slow commands are stopped and awaited; no test waits for a clock.

#![cfg(unix)]

mod fixture;
mod jobs;
mod redirects;
mod running;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod trees;
