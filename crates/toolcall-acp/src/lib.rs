//! The voice of toolcall: tool calls on the wire of the Agent Client Protocol.
//! It reports, asks and reads what it is told; it runs no tool and decides nothing.

pub mod finding;
mod inbound;
pub mod lane;
pub mod lint;
pub mod meta;
mod pace;
pub mod peer;
mod requests;
pub mod service;
mod trace;
pub mod transport;
pub mod v1;
mod wire;

pub use trace::TraceContext;
