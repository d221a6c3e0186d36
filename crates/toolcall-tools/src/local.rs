//! This machine, as a host offers it: files beneath the session's roots, a place for long output.
//! It never opens a path of a caller but through a directory handle that is held.

mod changes;
mod failure;
mod files;
mod folders;
mod locked;
mod moving;
mod reading;
mod roots;
mod spill;
mod temporary;
mod walk;

pub use files::{Durability, Files};
pub use reading::Portion;
pub use spill::Spills;
