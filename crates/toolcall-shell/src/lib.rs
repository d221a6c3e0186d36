//! Reads command lines, finds the programs that wrappers in them would run, and runs exactly what was read.
//! It decides nothing: a text with more than one possible reading is reported as unclear.
//!
//! ```
//! use toolcall::Reading;
//!
//! let Reading::Understood(parts) = toolcall_shell::read("cargo test 2>&1 | tail -5", "/w".as_ref()) else {
//!     panic!("the text is unclear");
//! };
//! assert_eq!(parts[1].argv, ["tail", "-5"]);
//! ```
//!
//! - [`read()`] parses a text into programs, or says why it cannot. Two independent parsers must agree;
//!   [`touches`] lists the files that its redirects open.
//! - [`unwrapped`] finds the programs that `env`, `timeout`, `sh -c` and other wrappers would run.
//! - [`Words`] holds every word that a text may expand to, so that a denied word is found however it is
//!   quoted or escaped.
//! - [`run()`] runs what was read, program by program, without a shell. `run_into` writes the output to a given
//!   file descriptor instead.
//! - [`quoted`] writes words as a command line that reads back as the same words.

mod ambiguity;
mod brush;
mod builtins;
mod grammar;
mod paths;
mod quote;
mod read;
mod resolve;
mod run;
mod simple_command;
mod unwrap;
mod words;

pub use quote::quoted;
pub use read::{MAX_PARTS, MAX_TEXT_LEN, read, touches};
pub use run::{DiskFiles, FileOpener, RunEnvironment, RunError, run};
#[cfg(unix)]
pub use run::{OutputPipe, run_into};
pub use unwrap::{UnwrappedPrograms, unwrapped};
pub use words::Words;
