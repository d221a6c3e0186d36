//! The arguments of `toolcall config` and their help texts.
//! It only declares them.

use clap::{Args, Subcommand};

const INIT_EXAMPLES: &str = "\
Examples:
  toolcall config init                 write the file, with every key explained
  $EDITOR \"$(toolcall config path)\"    edit it

Every key is listed with its default, after a `#`. An existing file is not changed.
";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolcall config show                 every key, its value, and where the value comes from
  toolcall config show --json | jq -r '.keys[] | select(.line) | .key'

Exit code 1 if the file has an error. The message gives the line, the column and what to write
instead. No call is made until you fix the file.
";

const PATH_EXAMPLES: &str = "\
Examples:
  toolcall config path
  XDG_CONFIG_HOME=/tmp/try toolcall config path

The file is `toolcall/config.toml` in $XDG_CONFIG_HOME, or else in ~/.config. It need not exist.
";

/// The commands of `toolcall config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Write the settings file, with every key explained and at its default
    #[command(after_help = INIT_EXAMPLES)]
    Init,
    /// Show every key, its value and where it comes from
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ConfigShowArgs),
    /// Print the path of the settings file
    #[command(after_help = PATH_EXAMPLES)]
    Path,
}

/// Arguments of `toolcall config show`.
#[derive(Debug, Args)]
pub(crate) struct ConfigShowArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
