//! The web tools, `todo_write` and `thinking` through a real engine, against local servers.
//! Nothing here leaves this machine.

#![cfg(feature = "web")]

mod fetch;
mod fetch_bodies;
mod fetch_redirects;
mod support;
mod thinking;
mod todo_write;
mod web_search;
