//! Command lines: what a text means, what wrappers in it would run, and running exactly what was understood.
//! It decides nothing, and where two readings of a text are possible it says that the text is unclear.
//!
//! - [`read`] takes a text apart, or says why it cannot. Two readers that share no code must agree.
//! - [`unwrapped`] tells which programs a program such as `env`, `timeout` or `sh -c` would run.
//! - [`Words`] holds every word that a text may come to, so that a denied one is found wherever it hides.
//! - [`run`] runs what was read, program by program, without a shell; `run_into` prints into a given file.

mod enter;
mod meaning;
mod names;
mod quote;
mod read;
mod refusal;
mod run;
mod scan;
mod second;
mod step;
mod strict;
mod unwrap;

pub use quote::quoted;
pub use read::{LONGEST_TEXT, MOST_PARTS, read, touches};
pub use run::{DiskFiles, Files, RunEnvironment, RunError, run};
#[cfg(unix)]
pub use run::{OutputPipe, run_into};
pub use scan::Words;
pub use unwrap::{Unwrapped, unwrapped};
