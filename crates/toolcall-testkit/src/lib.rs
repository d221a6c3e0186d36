//! What the tests of this workspace share. A dev-dependency only; it asserts nothing about the crate under test.
//!
//! | module | what it gives a test |
//! |---|---|
//! | [`dir`] | a temporary directory, and programs that see nothing else |
//! | [`process`] | the test itself in a process of its own; what the system knows of processes |
//! | [`client`] | a client that speaks JSON-RPC, a message a line, over a stream in memory |
//! | [`http`] | an HTTP server as hostile as the test wants it |
//! | [`clock`] | a clock that the test sets |
//! | [`tools`] | tools made of a closure |
//! | [`events`] | arbitrary events, for property tests |
//!
//! The unit tests of the core must not use it: through it they would meet the core's types a second time.

pub mod client;
pub mod clock;
pub mod dir;
pub mod events;
pub mod http;
pub mod process;
pub mod tools;

use std::time::{Duration, Instant};

/// Calls `look` until it returns something, and panics after `limit`.
pub fn wait_for<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < limit, "it did not come in {limit:?}");
        std::thread::yield_now();
    }
}
