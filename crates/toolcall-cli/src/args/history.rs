//! What can be said on the command line about the history.
//! It only describes; nothing is done here.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use toolcall::{Kind, Timestamp};

use crate::when;

/// How calls end, and where they may stand.
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
  toolcall history --status failed --since 2d  those in which something failed
  toolcall history show last                   one session as a timeline
  toolcall history search --text TODO          calls of every session
  toolcall history call last                   one call, with all that happened to it
  toolcall history undo last                   take back what it changed
  toolcall history export --out calls.jsonl

A session or call may be named by the beginning of its id; `last` is the latest one. A call may be
named with its session, as in 3f2a/call-1. Times are like 90m, 2d, 1w, 2026-01-31 or
2026-01-31T18:00.
";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolcall history show last
  toolcall history show 3f2a --status failed   only what failed in it
  toolcall history show last --json | jq '.calls[].title'

Bars are on one scale: what was before a call ran, how long people were waited for, how long it ran.
Time in which no call was alive is left out.
";

const SEARCH_EXAMPLES: &str = "\
Examples:
  toolcall history search --path src/main.rs   what touched this file
  toolcall history search --tool run_command --status failed --since 1w
  toolcall history search --text 'goodbye properly'
";

const VERIFY_EXAMPLES: &str = "\
Examples:
  toolcall history verify
  toolcall history verify --json | jq .problem

Every record carries a hash over itself and the one before it. That shows what was edited, taken out or
put in; it does not show a whole session that was deleted, or written anew with new hashes.
";

const FORGET_EXAMPLES: &str = "\
Examples:
  toolcall history forget last
  toolcall history forget 3f2a 77aa

They are gone with their texts and with what is needed to undo them. The other sessions stay verifiable.
";

const CALL_EXAMPLES: &str = "\
Examples:
  toolcall history call last
  toolcall history call 3f2a/call-1            the session's id or its beginning, then the call's
  toolcall history call call-1 --session last
  toolcall history call last --json | jq .decision
";

const EXPORT_EXAMPLES: &str = "\
Examples:
  toolcall history export > everything.jsonl
  toolcall history export last --out session.jsonl
  toolcall history export last | jq -r .event | sort | uniq -c

One JSON object for every record. What looks like a key is left out, as in the history.
";

const UNDO_EXAMPLES: &str = "\
Examples:
  toolcall history undo last                   shows what it would do, and asks
  toolcall history undo 3f2a/call-2 --yes

Nothing is changed if a file is no longer as the call left it. What is needed to undo a call is kept
for seven days. Commands are not undone.
";

const PRUNE_EXAMPLES: &str = "\
Examples:
  toolcall history prune --older-than 30d
  toolcall history prune --older-than 2026-01-01

Whole sessions go, with their texts and with what is needed to undo them.
";

pub(super) const STATS_EXAMPLES: &str = "\
Examples:
  toolcall stats                               by tool
  toolcall stats --by day --since 2w
  toolcall stats --json | jq '.denials'

Days are those of UTC.
";

/// What of the history is wanted.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Remembering {
    #[command(subcommand)]
    pub(crate) task: Option<HistoryTask>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the history.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryTask {
    /// Show a session as a timeline: each call, how long it waited and ran, how it ended
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Showing),
    /// List calls of every session, the newest first
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(Searching),
    /// Show one call: input, output, changes, who decided, everything that happened
    #[command(after_help = CALL_EXAMPLES)]
    Call(Calling),
    /// Write sessions as lines of JSON
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Exporting),
    /// Take back what a call changed in files
    #[command(after_help = UNDO_EXAMPLES)]
    Undo(Undoing),
    /// Check that no record was changed, taken out or put in; exit code 1 if one was
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(Verifying),
    /// Forget sessions that were last heard of long ago
    #[command(after_help = PRUNE_EXAMPLES)]
    Prune(Pruning),
    /// Forget sessions, with everything that was kept of them
    #[command(after_help = FORGET_EXAMPLES)]
    Forget(Leaving),
}

/// Which calls are wanted.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only calls of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)))]
    pub(crate) kind: Option<String>,
    /// Only calls that ended so, or stand there
    #[arg(long, value_parser = PossibleValuesParser::new(STATUSES))]
    pub(crate) status: Option<String>,
    /// Only calls that touched this file, or something beneath this folder
    #[arg(long)]
    pub(crate) path: Option<PathBuf>,
    /// Only calls with all of these words in title, input or output
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// Only what happened then or later
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    pub(crate) since: Option<Timestamp>,
    /// Only what happened before
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    pub(crate) until: Option<Timestamp>,
    /// At most so many, the latest
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<usize>,
}

/// Which session is shown.
#[derive(Debug, Args)]
pub(crate) struct Showing {
    /// The session: its id, a beginning of it, or `last`
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which calls are listed.
#[derive(Debug, Args)]
pub(crate) struct Searching {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A call, by name.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The call: its id, a beginning of it, SESSION/CALL, or `last`
    #[arg(value_name = "CALL")]
    pub(crate) call: String,
    /// The session it is of, where its id alone does not say
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
}

/// Which call is shown.
#[derive(Debug, Args)]
pub(crate) struct Calling {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is exported.
#[derive(Debug, Args)]
pub(crate) struct Exporting {
    /// The sessions; all of them if left out
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
    /// Write to this file instead of standard output; it is readable for you alone
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what was written as JSON
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}

/// What is undone.
#[derive(Debug, Args)]
pub(crate) struct Undoing {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Do it without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON; nothing is asked, so nothing is undone without `--yes`
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the verdict on the history is told.
#[derive(Debug, Args)]
pub(crate) struct Verifying {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is too old.
#[derive(Debug, Args)]
pub(crate) struct Pruning {
    /// Forget sessions that were last heard of before
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    pub(crate) older_than: Timestamp,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is forgotten.
#[derive(Debug, Args)]
pub(crate) struct Leaving {
    /// The sessions
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) sessions: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is counted.
#[derive(Debug, Args)]
pub(crate) struct Counting {
    /// What calls are put together by
    #[arg(long, value_enum, default_value = "tool")]
    pub(crate) by: Grouping,
    /// Only calls made then or later, such as 90m, 2d, 1w or 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    pub(crate) since: Option<Timestamp>,
    /// Print JSON: every grouping at once
    #[arg(long)]
    pub(crate) json: bool,
}

/// What calls are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grouping {
    Tool,
    Kind,
    Agent,
    Day,
}
