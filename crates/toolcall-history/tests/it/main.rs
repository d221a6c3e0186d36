//! What a history promises, shown from outside, through its public API and through its files.
//! It must not look into the crate: what is not seen from here is not promised.

mod eight_processes;
mod failures;
mod forgetting;
mod ground;
mod killed;
mod older;
mod reading;
mod replay;
mod secrets;
mod statistics;
mod tampering;
mod undoing;
