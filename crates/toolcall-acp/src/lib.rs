//! Tool calls on the wire of the Agent Client Protocol.
//! It reports, asks and reads what it is told; it runs no tool and decides nothing.

mod codec;
pub mod decode;
pub mod dispatch;
pub mod finding;
mod inbound;
pub mod lane;
pub mod lint;
pub mod meta;
pub mod peer;
mod report;
mod requests;
pub mod server;
pub mod service;
pub mod session;
mod trace;
pub mod transport;
pub mod v1;
mod version;
mod wire;

pub use server::{ClientConnection, SimpleAgent, prompt_text, serve, stdio};
pub use service::StopReason;
pub use session::{Prompt, Session};
pub use trace::TraceContext;
pub use version::ProtocolVersion;
