//! An agent: sessions with a client, models that answer, and the loop that carries a turn.
//! It draws no screen and reads no settings of its own; whoever builds it hands in what it needs.

mod agent;
mod commands;
mod conversation;
mod markdown;
mod memory;
pub mod model;
pub mod pairs;
mod servers;
mod sitting;
mod switch_mode;
mod turn;
mod wishes;
mod workplace;

pub use agent::{Agent, AgentSettings, Onlooker};
pub use servers::{Known, SetUp, Standing, own_file};
pub use switch_mode::{SwitchInput, SwitchMode};
pub use workplace::{Plan, Workplace, new_session};
