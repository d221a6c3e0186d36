//! The integration tests of `toolcall-policy`, one module a subject, in one binary.

mod corpus;
mod hostile;
mod processes;
mod rules;
mod store;
