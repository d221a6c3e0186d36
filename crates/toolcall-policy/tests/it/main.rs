//! The integration tests of `toolcall-policy`, one module a subject, in one binary.

mod book;
mod corpus;
mod hostile;
mod processes;
mod rules;
