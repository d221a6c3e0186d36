//! The agents of others that a benchmark starts, put below `target` in pinned versions.
//! Without npm they are left out; the benchmark says what it could not start.

use std::path::{Path, PathBuf};

use crate::pinned::{Scripts, npm, put};

/// Where the benchmark finds what was put there.
pub(crate) const PLACE: &str = "TOOLCALL_ACP_AGENTS";

const AGENTS: [&str; 2] = [
    "@agentclientprotocol/claude-agent-acp@0.99.1",
    "@google/gemini-cli@0.61.0",
];

/// What runs them: one of them needs a newer node than many have. It is fetched by its own script.
const NODE: [&str; 1] = ["node@22.23.3"];

/// Installs the agents unless they are there, and says where; nothing where they cannot be had.
pub(crate) fn prepare(root: &Path) -> Option<PathBuf> {
    let place = root.join("target/acp-agents");
    let steps = vec![
        npm(&place, &AGENTS, Scripts::Ignored),
        npm(&place, &NODE, Scripts::Run),
    ];
    match put(&place, &[&AGENTS[..], &NODE].concat(), steps) {
        Ok(()) => Some(place),
        Err(why) => {
            eprintln!("no agents of others are measured: {why}");
            None
        }
    }
}
