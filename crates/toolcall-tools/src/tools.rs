//! The built-in tools, one file each. They use the same public API as your own tools.
//! A tool states its intent and then does exactly that; it decides no permission and sets no status.
//!
//! The description of a tool and the doc comments of its input are its schema: the model reads them, and they are part of
//! the digest that remembered rules pin.
//!
//! [`Toolset`](crate::Toolset) creates them all for a session. A single one can be registered like any tool:
//!
//! ```
//! use toolcall::Registry;
//! use toolcall_tools::tools::WriteFile;
//!
//! let mut registry = Registry::new();
//! registry.add(WriteFile)?;
//! assert!(registry.definition("write_file").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(unix)]
mod command_output;
mod delete_file;
mod edit_file;
#[cfg(feature = "web")]
mod fetch;
#[cfg(unix)]
mod find_path;
#[cfg(unix)]
mod limit;
#[cfg(unix)]
mod list_directory;
mod move_file;
mod naming;
#[cfg(unix)]
mod pattern;
#[cfg(unix)]
mod read_file;
#[cfg(unix)]
mod run_command;
#[cfg(unix)]
mod search_files;
#[cfg(unix)]
mod stop_command;
mod thinking;
mod todo_write;
#[cfg(unix)]
mod walking;
#[cfg(feature = "web")]
mod web_search;
mod write_file;

#[cfg(unix)]
pub use command_output::CommandOutput;
pub use delete_file::DeleteFile;
pub use edit_file::EditFile;
#[cfg(feature = "web")]
pub use fetch::Fetch;
#[cfg(unix)]
pub use find_path::FindPath;
#[cfg(unix)]
pub use limit::ResultLimit;
#[cfg(unix)]
pub use list_directory::ListDirectory;
pub use move_file::MoveFile;
#[cfg(unix)]
pub use read_file::ReadFile;
#[cfg(unix)]
pub use run_command::RunCommand;
#[cfg(unix)]
pub use search_files::SearchFiles;
#[cfg(unix)]
pub use stop_command::StopCommand;
pub use thinking::Thinking;
pub use todo_write::TodoWrite;
#[cfg(feature = "web")]
pub use web_search::WebSearch;
pub use write_file::WriteFile;
