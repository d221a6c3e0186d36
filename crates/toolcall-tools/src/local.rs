//! This machine, as a host offers it: files beneath the session's roots, a place for long output.
//! It never opens a path of a caller but through a directory handle that is held.

mod changes;
mod failure;
mod files;
mod folders;
mod inspecting;
mod moving;
mod reading;
mod redirecting;
mod roots;
mod spill;
mod temporary;
mod trash;
pub(crate) mod tree;
mod walk;

pub use files::{Durability, Files};
pub use reading::FilePart;
pub use roots::RootId;
pub use spill::Spills;
pub(crate) use temporary::fresh_name;
pub use trash::Trash;
