//! This machine, as a host offers it: files beneath the session's roots, a place for long output.
//! It never opens a path of a caller but through a directory handle that is held.

mod changes;
mod directories;
mod errors;
mod files;
mod inspecting;
mod moving;
mod path_walk;
mod reading;
mod redirecting;
mod roots;
mod spill;
mod temporary;
mod trash;
pub(crate) mod tree;

pub use files::{Durability, Files};
pub use reading::FilePart;
pub use roots::RootId;
pub use spill::Spills;
pub(crate) use temporary::random_name;
pub use trash::Trash;
