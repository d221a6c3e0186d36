//! Scenarios and properties of the engine, through the public API.

mod bad_input;
mod bounds;
mod cancel;
mod dry_run;
mod faults;
mod forms;
mod lifecycle;
mod links;
mod many;
mod nested;
mod order;
mod permission;
mod run_context;
mod schedules;
mod shown_edits;
mod stopped_tools;
mod streaming;
mod support;
