//! What can be said on the command line about rules and trust.
//! It only describes; nothing is done here.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  toolcall policy explain 'cargo test && rm -rf target'
  toolcall policy explain 'git push' --mode read-only
  toolcall policy explain --tool write_file --input '{\"path\": \".env\", \"content\": \"\"}'
  toolcall policy explain 'make' --json | jq -r .verdict

Nothing is run, asked or kept.
";

const CHECK_EXAMPLES: &str = "\
Examples:
  toolcall policy check                the files that hold in this folder
  toolcall policy check new.toml       a file that does not hold yet

Exit code 1 if a file is broken: then every call is denied until it is mended.
";

const LIST_EXAMPLES: &str = "\
Examples:
  toolcall policy list                 every rule that holds here, and where it is from
  toolcall policy forget 3f2a91bc      takes a kept answer out, by its id
  toolcall policy forget --all
";

const TRY_EXAMPLES: &str = "\
Examples:
  toolcall history export --out calls.jsonl
  toolcall policy try calls.jsonl                       what the rules of today would say
  toolcall policy try calls.jsonl --policy new.toml     with rules that do not hold yet
  toolcall history export last | toolcall policy try - --mode read-only

Every call is judged in the folder of its session, by what it said it would do. Nothing is run,
asked or kept.
";

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyTask {
    /// Say what would become of a command or a call, and why
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explaining),
    /// Read policy files and say what is wrong with them
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Checking),
    /// List the rules that hold in a folder, with the answers that were kept
    #[command(after_help = LIST_EXAMPLES)]
    List(Ruled),
    /// Take back answers that were kept
    Forget(Forgetting),
    /// Judge recorded calls again, and show what would be different
    #[command(after_help = TRY_EXAMPLES)]
    Try(Trying),
}

/// Which rules hold, and where.
#[derive(Clone, Debug, Args)]
pub(crate) struct Ruling {
    /// How much is done without asking, instead of what the policy says
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<ModeName>,
    /// Rules of this file hold, too
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// Which rules, and how they are told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Ruled {
    #[command(flatten)]
    pub(crate) ruling: Ruling,
    /// The folder they hold in; the current one if left out
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is explained.
#[derive(Debug, Args)]
pub(crate) struct Explaining {
    /// A command line
    #[arg(required_unless_present = "tool", conflicts_with_all = ["tool", "input"])]
    pub(crate) command: Option<String>,
    /// A tool, instead of a command
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// What the tool is given, as one JSON object
    #[arg(long, value_name = "JSON", requires = "tool", default_value = "{}")]
    pub(crate) input: String,
    #[command(flatten)]
    pub(crate) ruled: Ruled,
}

/// What is checked.
#[derive(Debug, Args)]
pub(crate) struct Checking {
    /// Files to read; those that hold in the folder if left out
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) ruled: Ruled,
}

/// What is forgotten.
#[derive(Debug, Args)]
pub(crate) struct Forgetting {
    /// The ids that `toolcall policy list` shows
    #[arg(required_unless_present = "all")]
    pub(crate) ids: Vec<String>,
    /// Everything that was kept for the folder and everywhere
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) ruled: Ruled,
}

/// What is judged again.
#[derive(Debug, Args)]
pub(crate) struct Trying {
    /// What `toolcall history export` wrote; `-` for standard input
    pub(crate) export: PathBuf,
    #[command(flatten)]
    pub(crate) ruling: Ruling,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which project is trusted.
#[derive(Debug, Args)]
pub(crate) struct Trusting {
    /// The project; the current folder if left out
    pub(crate) folder: Option<PathBuf>,
    /// Trust it without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Take back the trust
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,
    /// Print JSON; nothing is asked, so nothing is trusted without `--yes`
    #[arg(long)]
    pub(crate) json: bool,
}

/// The modes, as they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Everything runs without a question; deny rules, ask rules and protected paths still hold
    AllowAll,
    /// Files in the folder are read and written; the rest is asked
    AcceptEdits,
    /// Files in the folder are read; the rest is asked
    Ask,
    /// Files in the folder are read; what changes anything is denied
    ReadOnly,
    /// Everything is denied
    DenyAll,
}
