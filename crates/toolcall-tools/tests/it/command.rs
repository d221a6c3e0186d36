//! Real commands under a real supervisor: output, hostile trees, redirects, sandbox, background.
//! What is slow is ended and its end awaited; no test waits for a clock.

#![cfg(unix)]

mod fixture;
mod jobs;
mod redirects;
mod running;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod trees;
