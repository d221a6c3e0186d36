//! The arguments of `toolcall policy` and `toolcall trust`, and their help texts.
//! It only declares them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  toolcall policy explain 'cargo test && rm -rf target'
  toolcall policy explain 'git push' --mode read-only
  toolcall policy explain --tool write_file --input '{\"path\": \".env\", \"content\": \"\"}'
  toolcall policy explain 'make' --json | jq -r .verdict

Runs nothing, asks nothing and records nothing.
";

const CHECK_EXAMPLES: &str = "\
Examples:
  toolcall policy check                the files that apply in this directory
  toolcall policy check new.toml       a file that does not apply yet

Exit code 1 if a file has an error: every call is denied until you fix it.
";

const LIST_EXAMPLES: &str = "\
Examples:
  toolcall policy list                 every rule that applies here, and its file
  toolcall policy forget 3f2a91bc      forget a remembered answer, by its id
  toolcall policy forget --all
";

const TRY_EXAMPLES: &str = "\
Examples:
  toolcall history export --out calls.jsonl
  toolcall policy try calls.jsonl                       with the present rules
  toolcall policy try calls.jsonl --policy new.toml     with rules that do not apply yet
  toolcall history export last | toolcall policy try - --mode read-only

Evaluates what each call announced, in the directory of its session. Runs nothing, asks nothing and
records nothing.
";

/// The commands of `toolcall policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show whether a command or call would be allowed, and why
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(PolicyExplainArgs),
    /// Check policy files for errors
    #[command(after_help = CHECK_EXAMPLES)]
    Check(PolicyCheckArgs),
    /// List the rules that apply in a directory, and the remembered answers
    #[command(after_help = LIST_EXAMPLES)]
    List(PolicyScopeArgs),
    /// Forget remembered answers
    Forget(PolicyForgetArgs),
    /// Evaluate recorded calls again, and show what would be different
    #[command(after_help = TRY_EXAMPLES)]
    Try(PolicyTryArgs),
}

/// Options that override or extend the policy.
#[derive(Clone, Debug, Args)]
pub(crate) struct PolicyArgs {
    /// What is allowed without asking, instead of the policy's mode
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<ModeName>,
    /// Apply the rules of this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// Common arguments of the `toolcall policy` commands.
#[derive(Clone, Debug, Args)]
pub(crate) struct PolicyScopeArgs {
    #[command(flatten)]
    pub(crate) policy_args: PolicyArgs,
    /// The directory whose rules apply [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall policy explain`.
#[derive(Debug, Args)]
pub(crate) struct PolicyExplainArgs {
    /// A command line
    #[arg(required_unless_present = "tool", conflicts_with_all = ["tool", "input"])]
    pub(crate) command: Option<String>,
    /// A tool, instead of a command
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The input of the tool, as one JSON object
    #[arg(long, value_name = "JSON", requires = "tool", default_value = "{}")]
    pub(crate) input: String,
    #[command(flatten)]
    pub(crate) scope: PolicyScopeArgs,
}

/// Arguments of `toolcall policy check`.
#[derive(Debug, Args)]
pub(crate) struct PolicyCheckArgs {
    /// The files to check [default: those that apply in the directory]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: PolicyScopeArgs,
}

/// Arguments of `toolcall policy forget`.
#[derive(Debug, Args)]
pub(crate) struct PolicyForgetArgs {
    /// The ids that `toolcall policy list` shows
    #[arg(required_unless_present = "all")]
    pub(crate) ids: Vec<String>,
    /// Forget every answer remembered for this directory or for all directories
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) scope: PolicyScopeArgs,
}

/// Arguments of `toolcall policy try`.
#[derive(Debug, Args)]
pub(crate) struct PolicyTryArgs {
    /// A file written by `toolcall history export`; `-` for standard input
    pub(crate) export: PathBuf,
    #[command(flatten)]
    pub(crate) policy_args: PolicyArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The directory of the project [default: the current directory]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Trust it without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Stop trusting it
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,
    /// Print JSON. It does not ask, so it trusts nothing without `--yes`
    #[arg(long)]
    pub(crate) json: bool,
}

/// The modes, as written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Everything is allowed without asking; deny rules, ask rules and protected paths still apply
    AllowAll,
    /// Reading and writing inside the working directory is allowed; everything else is asked
    AcceptEdits,
    /// Reading inside the working directory is allowed; everything else is asked
    Ask,
    /// Reading inside the working directory is allowed; changing anything is denied
    ReadOnly,
    /// Everything is denied
    DenyAll,
}
