//! The hands of toolcall: what tools do on this machine, beneath the roots of a session.
//! Nothing here asks for permission or knows a wire; both were settled before.

#[cfg(unix)]
pub mod local;
