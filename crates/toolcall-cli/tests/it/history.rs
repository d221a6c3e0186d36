//! Runs `toolcall history`, `toolcall stats` and `toolcall policy try` in a temporary home and project.
//! Nothing outside of those directories is changed.

#![cfg(unix)]

mod fixture;
mod maintenance;
mod policy_try;
mod show;
mod undo;
