//! The policy store on real files: policies, trust, remembered rules, and files with errors.
//! Each module tests one of them.

mod files;
pub(crate) mod fixture;
mod following;
mod older;
mod remembering;
mod repositories;
mod trusting;
