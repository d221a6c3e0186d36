//! The tools of the demo, written exactly as a guest would write them.
//! None of them knows about permission, status or the screen.

mod edit_file;
mod read_file;
mod run_command;
mod run_tests;
mod watch_folder;

use toolcall::{Registry, RegistryError};

use super::pace::Pace;

/// All of them.
pub(crate) fn registry(pace: Pace) -> Result<Registry, RegistryError> {
    let mut tools = Registry::new();
    tools
        .add(read_file::ReadFile { pace })?
        .add(edit_file::EditFile)?
        .add(run_command::RunCommand)?
        .add(run_tests::RunTests { pace })?
        .add(watch_folder::WatchFolder { pace })?;
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_tools_take_the_advice_for_authors() {
        let tools = registry(Pace::AtOnce).expect("the tools are fine");
        assert_eq!(tools.lint(), []);
    }
}
