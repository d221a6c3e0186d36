//! What a client receives when tools are fast and print much, and the client is slow.
//! Time is paused; the golden tests check single calls.

mod fixture;
mod flood;
mod pace;
mod random;
mod sessions;
mod stalled;
