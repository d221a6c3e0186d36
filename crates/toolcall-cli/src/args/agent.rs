//! What can be said to `toolcall agent`.
//! It only describes; nothing is done here.

use std::path::PathBuf;

use clap::Args;

use super::Ruling;

pub(crate) const EXAMPLES: &str = "\
An editor starts this and speaks to it; nothing but the protocol goes to standard output.

Zed, in settings.json:
  { \"agent_servers\": { \"toolcall\": { \"type\": \"custom\",
      \"command\": \"toolcall\", \"args\": [\"agent\"], \"env\": {} } } }
JetBrains, in ~/.jetbrains/acp.json:
  { \"agent_servers\": { \"toolcall\": {
      \"command\": \"/path/to/toolcall\", \"args\": [\"agent\"], \"env\": {} } } }
Neovim (agentic.nvim, avante.nvim):
  acp_providers = { [\"toolcall\"] = { name = \"toolcall\", command = \"toolcall\",
      args = { \"agent\" }, env = {} } }
Anywhere:
  acpx --agent 'toolcall agent' \"read README.md\"

Models:
  manual            you are the model: `read README.md`, `run cargo test`, `help`
  script:FILE       plays what a YAML file says; docs/script.md describes it
Without --model the `model` of your settings answers (`toolcall config show`).

In a session: /tools, /policy, /history, /undo, /stats, /model.
";

/// How the agent is wanted.
#[derive(Debug, Args)]
pub(crate) struct AgentWishes {
    /// Who answers: manual, or script:FILE
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) ruling: Ruling,
    /// Run commands in a sandbox: they write only to the session's folders and reach no network
    /// (Linux)
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Keep nothing in the history; sessions cannot be opened again then
    #[arg(long)]
    pub(crate) no_history: bool,
    /// Append what happens here to this file, for whoever looks for a fault
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}
