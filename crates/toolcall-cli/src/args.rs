//! What can be said on the command line, and the help that explains it.
//! It only describes; nothing is done here.

mod agent;
mod config;
mod history;
mod mcp;
mod policy;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use agent::AgentWishes;
pub(crate) use config::{ConfigShowing, ConfigTask};
pub(crate) use history::{
    Calling, Counting, Exporting, Grouping, HistoryTask, Leaving, Named, Pruning, Remembering,
    Searching, Showing, Undoing, Verifying, Wanted,
};
pub(crate) use mcp::{Adding, Here, McpTask, Removing, Serving, Testing};
pub(crate) use policy::{
    Checking, Explaining, Forgetting, ModeName, PolicyTask, Ruled, Ruling, Trusting, Trying,
};

const EXAMPLES: &str = "\
Examples:
  toolcall demo                        watch calls from announcement to ending
  toolcall agent                       an agent for your editor; --help says how to set it up
  toolcall tools                       the built-in tools
  toolcall call read_file path=README.md line=1 limit=5
  toolcall call run_command command='cargo --version'
  toolcall policy explain 'cargo test && rm -rf target'
  toolcall history                     what was called, and how it ended
  toolcall stats                       what all of it adds up to
  toolcall trust                       what this project may allow itself
  toolcall mcp add time -- uvx mcp-server-time
  toolcall config init                 your settings, every key explained
  toolcall completions fish            a completion script, for `source`

Write a tool of your own: `cargo run --package toolcall --example custom_tool`
";

const DEMO_EXAMPLES: &str = "\
Examples:
  toolcall demo                                    answer y, n, r (no, and why) or a number (always)
  toolcall demo --json | grep '\"finished\"'         how every call ended
  toolcall demo --wire | less -S                   ACP, line by line
  NO_COLOR=1 toolcall demo --yes                   plain text

Without a terminal the demo answers its own questions and does not wait between steps.
Ctrl-C cancels what is running; every call still ends, and the timeline is shown.
";

const TOOLS_EXAMPLES: &str = "\
Examples:
  toolcall tools                       name, kind and description of each
  toolcall tools edit_file             what it takes, in full
  toolcall tools --json | jq '.[].name'
  toolcall tools --lint                advice for authors; exit code 1 if there is any

MCP servers that are set up are started to ask what they offer; see `toolcall mcp list`.
";

const CALL_EXAMPLES: &str = "\
Examples:
  toolcall call list_directory path=. depth=2
  toolcall call search_files query=TODO path=src
  toolcall call edit_file --json '{\"path\": \"a.txt\", \"edits\":
      [{\"type\": \"replace\", \"oldText\": \"one\", \"newText\": \"two\"}]}'
  toolcall call run_command command='cargo test' --yes
  toolcall call fetch url=https://example.com --wire

A value is read as the tool's schema says: text as it is, everything else as JSON.
Calls are kept: see `toolcall history`, and `toolcall history undo last` to take an edit back.
What may be done is up to your policy (`toolcall policy list`). Without one, reads beneath the
folder are silent; everything else is asked about on the terminal.
Exit codes: 0 completed, 1 failed, 2 not understood, 3 denied, 124 timed out,
130 cancelled (Ctrl-C), 4 broken off.
";

const TRUST_EXAMPLES: &str = "\
Examples:
  toolcall trust                       look at what the project brings, and decide
  toolcall trust ../other --yes
  toolcall trust --revoke

A project's `.toolcall/policy.toml` and `.mcp.json` are shown, with what changed since they were
last trusted. Until then that policy only tightens, and those servers are not started. Trust is for
exactly this content: a change ends it.
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
    /// Watch an agent at work on a small project in a temporary folder; no model is needed
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Wishes),
    /// Serve an editor: a complete agent on standard input and output
    #[command(after_help = agent::EXAMPLES)]
    Agent(AgentWishes),
    /// List the tools: what they are called, what they take, where they are from
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(Listing),
    /// Make one call of one tool, from announcement to ending
    #[command(after_help = CALL_EXAMPLES)]
    Call(Request),
    /// Explain, check and list the rules that calls are judged by
    #[command(subcommand)]
    Policy(PolicyTask),
    /// Look at what was called: sessions, timelines, single calls; undo, export, verify, forget
    #[command(after_help = history::EXAMPLES)]
    History(Box<Remembering>),
    /// Count calls: success, run times, waiting, denials, by tool, kind, agent or day
    #[command(after_help = history::STATS_EXAMPLES)]
    Stats(Counting),
    /// Trust the policy and the MCP servers of a project, as they are now
    #[command(after_help = TRUST_EXAMPLES)]
    Trust(Trusting),
    /// Set up, list and try MCP servers, whose tools are used like the built-in ones
    #[command(subcommand)]
    Mcp(McpTask),
    /// Write, show and find your settings
    #[command(subcommand)]
    Config(ConfigTask),
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

/// How the tools are listed.
#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// Only this one, in full
    pub(crate) name: Option<String>,
    /// Print the definitions as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print advice for the tools' authors instead
    #[arg(long, conflicts_with = "name")]
    pub(crate) lint: bool,
}

/// Which call to make.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// The tool
    pub(crate) tool: String,
    /// What it is given, as `key=value`
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) values: Vec<String>,
    /// What it is given, as one JSON object
    #[arg(long, value_name = "INPUT", conflicts_with = "values")]
    pub(crate) json: Option<String>,
    /// The folder to work in; the current one if left out
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ruling: Ruling,
    /// Answer every question with yes
    #[arg(long)]
    pub(crate) yes: bool,
    /// Run commands in a sandbox: they write only to the folder and reach no network (Linux)
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Print one JSON object for every event, and nothing else
    #[arg(long)]
    pub(crate) events: bool,
    /// Show every line of the protocol that an agent and its client would exchange, and nothing
    /// else
    #[arg(long, conflicts_with = "events")]
    pub(crate) wire: bool,
    /// Keep nothing of this call in the history
    #[arg(long)]
    pub(crate) no_history: bool,
}
