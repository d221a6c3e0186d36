//! Real engines with telemetry, against a test collector that receives OTLP over a real socket.

mod content;
mod delivery;
mod many;
mod other_collector;
mod receiver;
mod setup;
mod tree;
mod turns;
