//! The integration tests of `toolcall`, one module a subject, in one binary.

mod authors;
mod engine;
mod fold;
mod forms;
mod host;
mod irregularities;
mod kinds;
mod policy;
mod readme;
mod replay;
mod schemas;
mod shared_registry;
mod testing_a_tool;
mod titles;
mod tracking;
