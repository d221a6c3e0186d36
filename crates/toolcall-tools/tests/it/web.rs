//! The tools of the web and of thought, through a real engine, against servers of our own.
//! Nothing here leaves this machine.

#![cfg(feature = "web")]

mod fetch;
mod fetch_bodies;
mod fetch_redirects;
mod support;
mod thinking;
mod todo_write;
mod web_search;
