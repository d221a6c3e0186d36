//! What can be said on the command line about MCP servers.
//! It only describes; nothing is done here.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Ruling;

const ADD_EXAMPLES: &str = "\
Examples:
  toolcall mcp add time -- uvx mcp-server-time
  toolcall mcp add notes --env NOTES_KEY=secret -- npx -y some-notes-server /home/ada/notes
  toolcall mcp add docs --url https://example.com/mcp --header 'Authorization=Bearer …'

The server is kept in your own `mcp.json` (see `toolcall mcp list`), readable for nobody else.
A server of the same name is replaced. Nothing is started; try it with `toolcall mcp test NAME`.
";

const LIST_EXAMPLES: &str = "\
Examples:
  toolcall mcp list                    what is set up, and where
  toolcall mcp list --json | jq -r '.[].name'

Servers come from your own `mcp.json` and, once you trust it (`toolcall trust`), from the
project's `.mcp.json`. Both take the usual shape: {\"mcpServers\": {\"NAME\": {\"command\": …}}}
";

const TEST_EXAMPLES: &str = "\
Examples:
  toolcall mcp test                    starts every server and says what it offers
  toolcall mcp test time --json

Exit code 1 if one of them cannot be used; what it printed last is shown then.
";

const SERVE_EXAMPLES: &str = "\
Examples:
  toolcall mcp serve                   for a client that starts it as a process
  toolcall mcp serve --cwd ~/project --mode read-only

What other agents take as settings:
  {\"mcpServers\": {\"toolcall\": {\"command\": \"toolcall\",
                                 \"args\": [\"mcp\", \"serve\", \"--cwd\", \"/path/to/project\"]}}}

Every call is judged by the policy. What it asks about is asked through the client, as a form; a
client that shows no forms is refused that. The server ends with its input, and its calls with it.
";

/// What to do with MCP servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpTask {
    /// List the servers that are set up, without starting them
    #[command(after_help = LIST_EXAMPLES)]
    List(Here),
    /// Set up a server of your own
    #[command(after_help = ADD_EXAMPLES)]
    Add(Adding),
    /// Take a server of your own out of the settings
    Remove(Removing),
    /// Start servers, list their tools, and end them
    #[command(after_help = TEST_EXAMPLES)]
    Test(Testing),
    /// Serve the built-in tools to another agent, on standard input and output
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Serving),
}

/// How the tools are served.
#[derive(Debug, Args)]
pub(crate) struct Serving {
    /// The folder to work in; the current one if left out
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// Run commands in a sandbox: they write only to the folder and reach no network (Linux)
    #[arg(long)]
    pub(crate) sandbox: bool,
    #[command(flatten)]
    pub(crate) ruling: Ruling,
}

/// Where, and how it is told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Here {
    /// The folder to work in; the current one if left out
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A server to set up.
#[derive(Debug, Args)]
pub(crate) struct Adding {
    /// What it is called
    pub(crate) name: String,
    /// Its address, if it is there already
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// A header for its address
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// A variable for its program
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The program that it is, and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

/// A server to take out.
#[derive(Debug, Args)]
pub(crate) struct Removing {
    /// What it is called
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Servers to try.
#[derive(Debug, Args)]
pub(crate) struct Testing {
    /// Only this one
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) here: Here,
}
