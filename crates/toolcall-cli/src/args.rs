//! The command line: commands, options and their help texts.
//! It only declares arguments; the other modules act on them.

mod agent;
mod config;
mod history;
mod mcp;
mod policy;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use agent::AgentArgs;
pub(crate) use config::{ConfigCommand, ConfigShowArgs};
pub(crate) use history::{
    CallFilterArgs, CallSelector, HistoryArgs, HistoryCallArgs, HistoryCommand, HistoryExportArgs,
    HistoryForgetArgs, HistoryPruneArgs, HistorySearchArgs, HistoryShowArgs, HistoryUndoArgs,
    HistoryVerifyArgs, StatsArgs, StatsGrouping,
};
pub(crate) use mcp::{
    McpAddArgs, McpCommand, McpRemoveArgs, McpScopeArgs, McpServeArgs, McpTestArgs,
};
pub(crate) use policy::{
    ModeName, PolicyArgs, PolicyCheckArgs, PolicyCommand, PolicyExplainArgs, PolicyForgetArgs,
    PolicyScopeArgs, PolicyTryArgs, TrustArgs,
};

const EXAMPLES: &str = "\
Examples:
  toolcall demo                        watch calls from start to end
  toolcall agent                       an agent for your editor; see `toolcall agent --help`
  toolcall tools                       the built-in tools
  toolcall call read_file path=README.md line=1 limit=5
  toolcall call run_command command='cargo --version'
  toolcall policy explain 'cargo test && rm -rf target'
  toolcall history                     past calls and how they ended
  toolcall stats                       counts, run times and denials
  toolcall trust                       trust this project's policy and servers
  toolcall mcp add time -- uvx mcp-server-time
  toolcall config init                 write your settings file, every key explained
  toolcall completions fish            a completion script, for `source`

Write your own tool: `cargo run --package toolcall --example custom_tool` in a checkout of toolcall
";

const DEMO_EXAMPLES: &str = "\
Examples:
  toolcall demo                                    answer y, n, r (no, and why) or a number (always)
  toolcall demo --json | grep '\"finished\"'         how every call ended
  toolcall demo --wire | less -S                   the protocol, line by line
  NO_COLOR=1 toolcall demo --yes                   plain text

Without a terminal the demo answers its own questions and does not wait between steps.
Ctrl-C cancels the running calls. Each of them still ends, and the timeline is shown.
";

const TOOLS_EXAMPLES: &str = "\
Examples:
  toolcall tools                       name, kind and description of each
  toolcall tools edit_file             its full description and input schema
  toolcall tools --json | jq '.[].name'
  toolcall tools --lint                advice for authors; exit code 1 if there is any

Configured MCP servers are started to list their tools; see `toolcall mcp list`.
";

const CALL_EXAMPLES: &str = "\
Examples:
  toolcall call list_directory path=. depth=2
  toolcall call search_files query=TODO path=src
  toolcall call edit_file --json '{\"path\": \"a.txt\", \"edits\":
      [{\"type\": \"replace\", \"oldText\": \"one\", \"newText\": \"two\"}]}'
  toolcall call run_command command='cargo test' --yes
  toolcall call fetch url=https://example.com --wire

The tool's schema decides how a value is read: text as it is, everything else as JSON.
Calls are recorded: see `toolcall history`. `toolcall history undo last` undoes an edit.
Your policy decides what is allowed (`toolcall policy list`). Without one, reading inside the
working directory is allowed, and everything else is asked about on the terminal.
Exit codes: 0 completed, 1 failed, 2 invalid input, 3 denied, 124 timed out,
130 cancelled (Ctrl-C), 4 interrupted.
";

const TRUST_EXAMPLES: &str = "\
Examples:
  toolcall trust                       show the project's files, and decide
  toolcall trust ../other --yes
  toolcall trust --revoke

Shows the project's `.toolcall/policy.toml` and `.mcp.json`, and what changed since you last
trusted them. Until you trust them, that policy can only deny or ask, and those servers are not
started. Trust covers exactly this content: a change ends it.
";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(toolcall completions bash)
  toolcall completions zsh > ~/.zfunc/_toolcall
  toolcall completions fish | source
";

/// Tool calls of the Agent Client Protocol, from announcement to result
///
/// A tool states what it will do before it does it. A policy allows it, denies it, or asks you.
/// Every call ends exactly once, with a reason that you and the model can read.
#[derive(Debug, Parser)]
#[command(name = "toolcall", version, after_help = EXAMPLES)]
pub(crate) struct CliArgs {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Watch an agent work on a small project in a temporary directory; no model is needed
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Serve an editor: a complete agent on standard input and output
    #[command(after_help = agent::EXAMPLES)]
    Agent(AgentArgs),
    /// List the tools, with their input and where they come from
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(ToolsArgs),
    /// Call one tool once, and show everything that happens
    #[command(after_help = CALL_EXAMPLES)]
    Call(CallArgs),
    /// Explain, check and list the rules that allow, ask about or deny calls
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Show past sessions and calls; undo, export, verify and delete them
    #[command(after_help = history::EXAMPLES)]
    History(Box<HistoryArgs>),
    /// Show figures on calls: success, run times, waiting and denials, by tool, kind, agent or day
    #[command(after_help = history::STATS_EXAMPLES)]
    Stats(StatsArgs),
    /// Trust the policy and the MCP servers of a project in their present form
    #[command(after_help = TRUST_EXAMPLES)]
    Trust(TrustArgs),
    /// Set up, list and test MCP servers, or serve the built-in tools as one
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Write, show and locate your settings file
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print a completion script for your shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Arguments of `toolcall demo`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DemoArgs {
    /// Print one JSON object for every event, and nothing else. Answers every question with yes
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every line of the protocol between agent and client, and nothing else. Answers every
    /// question with yes. With `--json`, one object for every line
    #[arg(long)]
    pub(crate) wire: bool,
    /// Answer every question with yes
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Arguments of `toolcall tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Show only this tool, in full
    pub(crate) name: Option<String>,
    /// Print the definitions as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print advice for the authors of the tools instead
    #[arg(long, conflicts_with = "name")]
    pub(crate) lint: bool,
}

/// Arguments of `toolcall call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The name of the tool
    pub(crate) tool: String,
    /// The input, as `key=value`
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) values: Vec<String>,
    /// The input, as one JSON object
    #[arg(long, value_name = "INPUT", conflicts_with = "values")]
    pub(crate) json: Option<String>,
    /// The working directory [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy_args: PolicyArgs,
    /// Answer every question with yes
    #[arg(long)]
    pub(crate) yes: bool,
    /// Run commands in a sandbox: they write only to the working directory and have no network access
    /// (Linux)
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Print one JSON object for every event, and nothing else
    #[arg(long)]
    pub(crate) events: bool,
    /// Print every line of the protocol between agent and client, and nothing else
    #[arg(long, conflicts_with = "events")]
    pub(crate) wire: bool,
    /// Do not record this call in the history
    #[arg(long)]
    pub(crate) no_history: bool,
}
