//! Tests of the connection from both of its ends, through the public API.

mod bad_lines;
mod ending;
mod flood;
mod handling;
mod lane;
mod order;
mod requests;
mod support;
