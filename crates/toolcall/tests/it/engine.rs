//! Stories and properties of the engine, told from outside, through the public API.

mod bad_input;
mod bounds;
mod cancel;
mod faults;
mod forms;
mod lifecycle;
mod links;
mod many;
mod nested;
mod order;
mod permission;
mod rehearsal;
mod run_context;
mod schedules;
mod shown_edits;
mod stopped_tools;
mod streaming;
mod support;
