//! What can be said on the command line, and the help that explains it.
//! It only describes; nothing is done here.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  toolcall demo                 watch eleven calls from announcement to ending
  toolcall demo --yes           the same, without questions
  toolcall demo --json          one JSON object for every event
  toolcall demo --wire          what goes over the wire to an editor
  toolcall completions fish     a completion script, for `source`

Write a tool of your own: `cargo run --package toolcall --example custom_tool`
";

const DEMO_EXAMPLES: &str = "\
Examples:
  toolcall demo                                    answer y, n, a (always) or r (no, and why)
  toolcall demo --json | grep '\"finished\"'         how every call ended
  toolcall demo --wire | less -S                   ACP, line by line
  NO_COLOR=1 toolcall demo --yes                   plain text

Without a terminal the demo answers its own questions and does not wait between steps.
Ctrl-C cancels what is running; every call still ends, and the table is shown.
";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(toolcall completions bash)
  toolcall completions zsh > ~/.zfunc/_toolcall
  toolcall completions fish | source
";

/// Tool calls of the Agent Client Protocol: announced, judged, asked, run, streamed and ended
///
/// A tool says what it will do before it does it. A policy judges that, a person is asked where
/// the policy says so, and every call ends once, with a reason that people and models can read.
#[derive(Debug, Parser)]
#[command(name = "toolcall", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Play a short story of tool calls, in memory; nothing on this machine is read or changed
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Wishes),
    /// Print a completion script for your shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// How the demo is wanted.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Wishes {
    /// Print one JSON object for every event, and nothing else; questions are answered with yes
    #[arg(long)]
    pub(crate) json: bool,
    /// Show every line of the protocol that an agent and its client exchange, and nothing else;
    /// questions are answered with yes. With `--json`, one object for every line
    #[arg(long)]
    pub(crate) wire: bool,
    /// Answer every question with yes
    #[arg(long)]
    pub(crate) yes: bool,
}
