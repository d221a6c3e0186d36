//! What can be said on the command line about settings.
//! It only describes; nothing is done here.

use clap::{Args, Subcommand};

const INIT_EXAMPLES: &str = "\
Examples:
  toolcall config init                 write the file, with every key explained
  $EDITOR \"$(toolcall config path)\"    and change it

Every key stands in it at its default, behind a `#`. A file that is there already is left as it is.
";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolcall config show                 every key, its value, and where that comes from
  toolcall config show --json | jq -r '.keys[] | select(.line) | .key'

Exit code 1 if the file is broken; then the line, the column and what to write instead are told, and
no call is made before it is mended.
";

const PATH_EXAMPLES: &str = "\
Examples:
  toolcall config path
  XDG_CONFIG_HOME=/tmp/try toolcall config path

It is `toolcall/config.toml` beneath $XDG_CONFIG_HOME, or beneath ~/.config. It need not be there.
";

/// What to do with settings.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigTask {
    /// Write the settings file, with every key explained and at its default
    #[command(after_help = INIT_EXAMPLES)]
    Init,
    /// Show every key, its value and where it comes from
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ConfigShowing),
    /// Print where the settings file is
    #[command(after_help = PATH_EXAMPLES)]
    Path,
}

/// How settings are shown.
#[derive(Debug, Args)]
pub(crate) struct ConfigShowing {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
