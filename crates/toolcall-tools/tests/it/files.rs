//! Real files beneath roots: tables, a model, races, spills.
//! It uses temporary directories only; no test waits for a clock.

#![cfg(unix)]

mod deleting;
mod model;
mod model_tree;
mod paths;
mod races;
mod spills;
mod writes;
