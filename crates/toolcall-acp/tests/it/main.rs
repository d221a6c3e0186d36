//! The integration tests of `toolcall-acp`, one module for each subject, in one binary.

mod agent;
mod connection;
mod decode;
mod fold;
mod golden;
mod refold;
mod reporting;
mod seeds;
mod v1_call;
mod wires;
