//! Real engines with telemetry, against a collector of our own that speaks OTLP over a real socket.

mod content;
mod delivery;
mod many;
mod receiver;
mod stage;
mod stranger;
mod tree;
mod turns;
