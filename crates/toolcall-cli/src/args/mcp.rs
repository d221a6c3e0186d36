//! The arguments of `toolcall mcp` and their help texts.
//! It only declares them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PolicyArgs;

const ADD_EXAMPLES: &str = "\
Examples:
  toolcall mcp add time -- uvx mcp-server-time
  toolcall mcp add notes --env NOTES_KEY=secret -- npx -y some-notes-server /home/ada/notes
  toolcall mcp add docs --url https://example.com/mcp --header 'Authorization=Bearer …'

Writes the server to your own `mcp.json` (see `toolcall mcp list`), which only you can read.
Replaces a server of the same name. Starts nothing; test it with `toolcall mcp test NAME`.
";

const LIST_EXAMPLES: &str = "\
Examples:
  toolcall mcp list                    the servers, and the files they come from
  toolcall mcp list --json | jq -r '.[].name'

Servers come from your own `mcp.json` and, once you trust it (`toolcall trust`), from the
project's `.mcp.json`. Both files have the usual format: {\"mcpServers\": {\"NAME\": {\"command\": …}}}
";

const TEST_EXAMPLES: &str = "\
Examples:
  toolcall mcp test                    start every server and list its tools
  toolcall mcp test time --json

Exit code 1 if a server fails; the last lines it printed are shown.
";

const SERVE_EXAMPLES: &str = "\
Examples:
  toolcall mcp serve                   serve a client that starts this as a process
  toolcall mcp serve --cwd ~/project --mode read-only

Settings for other agents:
  {\"mcpServers\": {\"toolcall\": {\"command\": \"toolcall\",
                                 \"args\": [\"mcp\", \"serve\", \"--cwd\", \"/path/to/project\"]}}}

The policy decides about every call. Its questions go to the client as forms; if the client does
not support forms, those calls are denied. The server and its calls end when its input ends.
";

/// The commands of `toolcall mcp`.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List the configured servers, without starting them
    #[command(after_help = LIST_EXAMPLES)]
    List(McpScopeArgs),
    /// Set up a server of your own
    #[command(after_help = ADD_EXAMPLES)]
    Add(McpAddArgs),
    /// Remove one of your own servers
    Remove(McpRemoveArgs),
    /// Start servers, list their tools, and stop them
    #[command(after_help = TEST_EXAMPLES)]
    Test(McpTestArgs),
    /// Serve the built-in tools to another agent, on standard input and output
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(McpServeArgs),
}

/// Arguments of `toolcall mcp serve`.
#[derive(Debug, Args)]
pub(crate) struct McpServeArgs {
    /// The working directory [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Run commands in a sandbox: they write only to the working directory and have no network access
    /// (Linux)
    #[arg(long)]
    pub(crate) sandbox: bool,
    #[command(flatten)]
    pub(crate) policy_args: PolicyArgs,
}

/// Arguments of `toolcall mcp list`, and common ones of `toolcall mcp test`.
#[derive(Clone, Debug, Args)]
pub(crate) struct McpScopeArgs {
    /// The working directory [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall mcp add`.
#[derive(Debug, Args)]
pub(crate) struct McpAddArgs {
    /// The name of the server
    pub(crate) name: String,
    /// The address of a server that is already running
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// A header for requests to the address
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// An environment variable for the program
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The program of the server, and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

/// Arguments of `toolcall mcp remove`.
#[derive(Debug, Args)]
pub(crate) struct McpRemoveArgs {
    /// The name of the server
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall mcp test`.
#[derive(Debug, Args)]
pub(crate) struct McpTestArgs {
    /// Test only this server
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) scope: McpScopeArgs,
}
