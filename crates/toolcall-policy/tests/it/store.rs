//! The rulebook on real files: policies, trust, kept answers, and what becomes of broken ones.
//! One binary, so that what the tests share is compiled once.

pub(crate) mod desk;
mod files;
mod following;
mod keeping;
mod older;
mod repositories;
mod trusting;
