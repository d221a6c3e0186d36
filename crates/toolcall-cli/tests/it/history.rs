//! Runs `toolcall history`, `toolcall stats` and `toolcall policy try` as they are, in a home and a project of their own.
//! Nothing outside of those folders is changed.

#![cfg(unix)]

mod ground;
mod shown;
mod trying;
mod undoing;
mod upkeep;
