//! Models, over conversations in memory: every delta of every answer.
//! No engine, no files and no client; calls are answered by the test.

mod manual;
mod script;
mod stage;
