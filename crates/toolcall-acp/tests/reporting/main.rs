//! What reaches a client when tools are fast, loud and many, and the client is slow.
//! Time is paused; what single calls look like is told by the stories.

mod desk;
mod flood;
mod pace;
mod random;
mod sessions;
mod stalled;

#[path = "../golden/line.rs"]
mod line;
#[path = "../golden/merged.rs"]
mod merged;
#[path = "../golden/rules.rs"]
mod rules;
