//! The arguments of `toolcall agent` and their help texts.
//! It only declares them.

use std::path::PathBuf;

use clap::Args;

use super::PolicyArgs;

pub(crate) const EXAMPLES: &str = "\
An editor starts this command. Standard input and output carry only the protocol.

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
  acpx --agent 'toolcall agent' exec \"read README.md\"

Models:
  manual            you are the model: type `read README.md`, `run cargo test` or `help`
  script:FILE       plays a YAML file; docs/script.md describes its format
Without --model, `model` of your settings is used (`toolcall config show`).

In a session: /tools, /policy, /history, /undo, /stats, /model.
";

/// Arguments of `toolcall agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The model: manual, or script:FILE
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) policy_args: PolicyArgs,
    /// Run commands in a sandbox: they write only to the session's directories and have no network
    /// access (Linux)
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Do not record sessions in the history; they cannot be opened again then
    #[arg(long)]
    pub(crate) no_history: bool,
    /// Append a debug log to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}
