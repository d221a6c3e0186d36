//! What reaches a client when tools are fast, loud and many, and the client is slow.
//! Time is paused; what single calls look like is told by the stories.

mod fixture;
mod flood;
mod pace;
mod random;
mod sessions;
mod stalled;
