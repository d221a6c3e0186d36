//! Files on this machine: those beneath the roots of a session, long output, and deleted files.
//! It opens a caller's path only through directory handles that it holds, never by name.

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

pub use files::{FileDurability, Files};
pub use reading::FilePart;
pub use roots::RootId;
pub use spill::Spills;
pub(crate) use temporary::random_name;
pub use trash::Trash;
