//! The rulebook on real files: policies, trust, kept answers, and what becomes of broken ones.
//! One binary, so that what the tests share is compiled once.

mod files;
pub(crate) mod fixture;
mod following;
mod older;
mod remembering;
mod repositories;
mod trusting;
