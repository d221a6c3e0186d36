//! The arguments of `toolcall history` and `toolcall stats`, and their help texts.
//! It only declares them.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use toolcall::{Kind, Timestamp};

use crate::time;

/// The statuses that calls can be filtered by: the endings, then those of open calls.
const STATUSES: [&str; 9] = [
    "completed",
    "failed",
    "denied",
    "cancelled",
    "timed_out",
    "interrupted",
    "asking",
    "running",
    "held",
];

pub(super) const EXAMPLES: &str = "\
Examples:
  toolcall history                             the latest sessions
  toolcall history --status failed --since 2d  sessions with failed calls
  toolcall history show last                   one session as a timeline
  toolcall history search --text TODO          calls of every session
  toolcall history call last                   one call, with all its events
  toolcall history undo last                   undo its changes to files
  toolcall history export --out calls.jsonl

Name a session or call by its id or the beginning of it; `last` is the latest one. Name a call of a
particular session as SESSION/CALL, such as 3f2a/call-1. Write times as 90m, 2d, 1w, 2026-01-31 or
2026-01-31T18:00.
";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolcall history show last
  toolcall history show 3f2a --status failed   only its failed calls
  toolcall history show last --json | jq '.calls[].title'

The bars show, on one scale, how long each call waited to start, waited for your answer, and ran.
Time in which no call was open is left out.
";

const SEARCH_EXAMPLES: &str = "\
Examples:
  toolcall history search --path src/main.rs   calls that touched this file
  toolcall history search --tool run_command --status failed --since 1w
  toolcall history search --text 'goodbye properly'
";

const VERIFY_EXAMPLES: &str = "\
Examples:
  toolcall history verify
  toolcall history verify --json | jq .problem

Every record has a hash over itself and the record before it. That detects records that were edited,
removed or inserted. It does not detect a deleted session, or one rewritten with new hashes.
";

const FORGET_EXAMPLES: &str = "\
Examples:
  toolcall history forget last
  toolcall history forget 3f2a 77aa

Deletes the sessions with their texts and undo data. The other sessions can still be verified.
";

const CALL_EXAMPLES: &str = "\
Examples:
  toolcall history call last
  toolcall history call 3f2a/call-1            by the ids of session and call, or their beginnings
  toolcall history call call-1 --session last
  toolcall history call last --json | jq .decision
";

const EXPORT_EXAMPLES: &str = "\
Examples:
  toolcall history export > everything.jsonl
  toolcall history export last --out session.jsonl
  toolcall history export last | jq -r .event | sort | uniq -c

Writes one JSON object for every record. Secrets are redacted, as in the history.
";

const UNDO_EXAMPLES: &str = "\
Examples:
  toolcall history undo last                   show the changes, and ask
  toolcall history undo 3f2a/call-2 --yes

Changes nothing if a file was modified after the call. Undo data is kept for seven days, or for
`history.undo_days` of your settings. Commands are not undone.
";

const PRUNE_EXAMPLES: &str = "\
Examples:
  toolcall history prune --older-than 30d
  toolcall history prune --older-than 2026-01-01

Deletes whole sessions, with their texts and undo data.
";

pub(super) const STATS_EXAMPLES: &str = "\
Examples:
  toolcall stats                               by tool
  toolcall stats --by day --since 2w
  toolcall stats --json | jq '.denials'

Days are in UTC.
";

/// Arguments of `toolcall history`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) command: Option<HistoryCommand>,
    #[command(flatten)]
    pub(crate) filter: CallFilterArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The commands of `toolcall history`.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Show a session as a timeline: each call, how long it waited and ran, how it ended
    #[command(after_help = SHOW_EXAMPLES)]
    Show(HistoryShowArgs),
    /// List calls of every session, the newest first
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(HistorySearchArgs),
    /// Show one call: input, output, changes, decision and all events
    #[command(after_help = CALL_EXAMPLES)]
    Call(HistoryCallArgs),
    /// Write sessions as JSON lines
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(HistoryExportArgs),
    /// Undo what a call changed in files
    #[command(after_help = UNDO_EXAMPLES)]
    Undo(HistoryUndoArgs),
    /// Check that no record was changed, removed or inserted; exit code 1 if one was
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(HistoryVerifyArgs),
    /// Delete old sessions
    #[command(after_help = PRUNE_EXAMPLES)]
    Prune(HistoryPruneArgs),
    /// Delete sessions, with all their data
    #[command(after_help = FORGET_EXAMPLES)]
    Forget(HistoryForgetArgs),
}

/// Options that filter calls.
#[derive(Debug, Args)]
pub(crate) struct CallFilterArgs {
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only calls of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)))]
    pub(crate) kind: Option<String>,
    /// Only calls with this status
    #[arg(long, value_parser = PossibleValuesParser::new(STATUSES))]
    pub(crate) status: Option<String>,
    /// Only calls that touched this file, or anything in this directory
    #[arg(long)]
    pub(crate) path: Option<PathBuf>,
    /// Only calls with all of these words in their title, input or output
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// Only from this time on
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) since: Option<Timestamp>,
    /// Only before this time
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) until: Option<Timestamp>,
    /// At most this many, the latest
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<usize>,
}

/// Arguments of `toolcall history show`.
#[derive(Debug, Args)]
pub(crate) struct HistoryShowArgs {
    /// The session: its id, the beginning of its id, or `last`
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) filter: CallFilterArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall history search`.
#[derive(Debug, Args)]
pub(crate) struct HistorySearchArgs {
    #[command(flatten)]
    pub(crate) filter: CallFilterArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Selects one call.
#[derive(Debug, Args)]
pub(crate) struct CallSelector {
    /// The call: its id, the beginning of its id, SESSION/CALL, or `last`
    #[arg(value_name = "CALL")]
    pub(crate) call: String,
    /// The session of the call, if several sessions have a call with this id
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
}

/// Arguments of `toolcall history call`.
#[derive(Debug, Args)]
pub(crate) struct HistoryCallArgs {
    #[command(flatten)]
    pub(crate) selector: CallSelector,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall history export`.
#[derive(Debug, Args)]
pub(crate) struct HistoryExportArgs {
    /// The sessions [default: all]
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
    /// Write to this file, which only you can read, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the file and the number of records as JSON
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}

/// Arguments of `toolcall history undo`.
#[derive(Debug, Args)]
pub(crate) struct HistoryUndoArgs {
    #[command(flatten)]
    pub(crate) selector: CallSelector,
    /// Undo without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON. It does not ask, so it undoes nothing without `--yes`
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall history verify`.
#[derive(Debug, Args)]
pub(crate) struct HistoryVerifyArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall history prune`.
#[derive(Debug, Args)]
pub(crate) struct HistoryPruneArgs {
    /// Delete sessions whose last record is older than this
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) older_than: Timestamp,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall history forget`.
#[derive(Debug, Args)]
pub(crate) struct HistoryForgetArgs {
    /// The sessions
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) sessions: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `toolcall stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// What to group calls by
    #[arg(long, value_enum, default_value = "tool")]
    pub(crate) by: StatsGrouping,
    /// Only calls from this time on, such as 90m, 2d, 1w or 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) since: Option<Timestamp>,
    /// Print JSON, with all groupings
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the rows of `toolcall stats` stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsGrouping {
    Tool,
    Kind,
    Agent,
    Day,
}
