//! The integration tests of `toolcall-agent`, one module a subject, in one binary.

mod models;
mod sessions;
mod switch_mode;
