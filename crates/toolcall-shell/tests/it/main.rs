//! The integration tests of `toolcall-shell`, one module a subject, in one binary.

mod differential;
mod hostile;
mod properties;
